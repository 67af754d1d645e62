package gen

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Files never import each other in a cycle, but their Go packages may, which Go refuses.

// edge is an import of one Go package by another, and the import in a file that makes it.
type edge struct {
	to    protogen.GoImportPath
	file  protoreflect.FileDescriptor
	index int // of the import in the file
}

func (e edge) String() string {
	const dependency = 3 // of FileDescriptorProto, with positions of imports
	loc := e.file.SourceLocations().ByPath(protoreflect.SourcePath{dependency, int32(e.index)})
	if len(loc.Path) == 0 {
		return e.file.Path() + ":0:0"
	}
	return fmt.Sprintf("%s:%d:%d", e.file.Path(), loc.StartLine+1, loc.StartColumn+1)
}

// checkCycles looks for a cycle of imports through the Go package of a file to generate.
func checkCycles(p *protogen.Plugin) error {
	imports := map[protogen.GoImportPath][]edge{}
	generated := map[protogen.GoImportPath]bool{}
	for _, f := range p.Files {
		if f.Generate {
			generated[f.GoImportPath] = true
		}
		for i := range f.Desc.Imports().Len() {
			to := p.FilesByPath[f.Desc.Imports().Get(i).Path()].GoImportPath
			if to != f.GoImportPath {
				imports[f.GoImportPath] = append(imports[f.GoImportPath], edge{to, f.Desc, i})
			}
		}
	}
	for _, from := range slices.Sorted(maps.Keys(generated)) {
		done := map[protogen.GoImportPath]bool{}
		var cycle []edge
		var reach func(at protogen.GoImportPath) bool
		reach = func(at protogen.GoImportPath) bool {
			for _, e := range imports[at] {
				if e.to == from || !done[e.to] {
					done[e.to] = true
					cycle = append(cycle, e)
					if e.to == from || reach(e.to) {
						return true
					}
					cycle = cycle[:len(cycle)-1]
				}
			}
			return false
		}
		if !reach(from) {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s: Go packages would import each other: %s", cycle[0], string(from))
		for _, e := range cycle {
			fmt.Fprintf(&b, " imports %s (%s)", string(e.to), e)
		}
		b.WriteString(": move messages, or give the files one go_package")
		return errors.New(b.String())
	}
	return nil
}
