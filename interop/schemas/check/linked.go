package check

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// LinkedExtensions looks up the extensions that are linked into the program, in
// order of their numbers, so that a seed stands for the same values each time.
func LinkedExtensions() func(protoreflect.FullName) []protoreflect.ExtensionType {
	all := make(map[protoreflect.FullName][]protoreflect.ExtensionType)
	protoregistry.GlobalTypes.RangeExtensions(func(x protoreflect.ExtensionType) bool {
		to := x.TypeDescriptor().ContainingMessage().FullName()
		all[to] = append(all[to], x)
		return true
	})
	for _, list := range all {
		slices.SortFunc(list, func(a, b protoreflect.ExtensionType) int {
			return int(a.TypeDescriptor().Number() - b.TypeDescriptor().Number())
		})
	}
	return func(name protoreflect.FullName) []protoreflect.ExtensionType { return all[name] }
}
