// Package report prints how messages are laid out on the wire: the row with its
// bits, slots and ends, the shape, the schema id and the text it is made of. Every
// number comes from package layout.
package report

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/layout"
	"github.com/graven-rpc/graven/protoc-gen-graven/internal/schema"
)

const usage = `Usage: protoc-gen-graven layout INPUT [MESSAGE]... [flags]

Prints how messages are laid out on the wire. INPUT is a buf image or a
FileDescriptorSet (binary or JSON, also compressed with gzip; - is the standard
input), a .proto file or a folder of them. MESSAGE is a full name; without one all
messages of the input are printed, but none that it only imports.

Offsets count bytes from the start of a row, bits from the lowest bit of its first
byte. Rows stand behind the count and the shape of their block; the last end of a block's
last row is not stored.

`

// Run is the command. args are what follows its name. It returns the exit code: 0, or
// 1 after an error, which goes to stderr.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := run(args, stdin, stdout)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	}
	fmt.Fprintf(stderr, "Failure: %v\n", err)
	return 1
}

// folders is a flag that may be given several times.
type folders []string

func (l *folders) String() string     { return strings.Join(*l, ",") }
func (l *folders) Set(v string) error { *l = append(*l, v); return nil }

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	var roots folders
	f := flag.NewFlagSet("layout", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Var(&roots, "I", "`folder` to find the imports of .proto files in; may be given several times")
	var names []string
	for {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fmt.Fprintf(stdout, "%sFlags:\n", usage)
				f.SetOutput(stdout)
				f.PrintDefaults()
			}
			return err
		}
		args = f.Args()
		if len(args) == 0 {
			break
		}
		names, args = append(names, args[0]), args[1:]
	}
	if len(names) == 0 {
		return errors.New("an input is missing: name an image, a .proto file or a folder; --help tells more")
	}
	s, err := schema.Load(names[0], schema.Options{Roots: roots, Stdin: stdin})
	if err != nil {
		return err
	}
	var all []protoreflect.MessageDescriptor
	for _, name := range names[1:] {
		md := s.Message(protoreflect.FullName(name))
		if md == nil {
			return fmt.Errorf("%s has no message %s", names[0], name)
		}
		all = append(all, md)
	}
	if len(names) == 1 {
		all = s.Messages(func(f *schema.File) bool { return !f.Import })
	}
	var b bytes.Buffer
	for i, md := range all {
		m, err := layout.Of(md)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := Message(&b, m); err != nil {
			return err
		}
	}
	_, err = stdout.Write(b.Bytes())
	return err
}

// Message prints the layout of one message type.
func Message(w io.Writer, m *layout.Message) error {
	r := m.Full
	slots := r.Stride - r.BitBytes - 4*r.Ends
	var b bytes.Buffer
	fmt.Fprintf(&b, "message %s\n", m.Name())
	fmt.Fprintf(&b, "  schema id    %#016x\n", m.ID())
	fmt.Fprintf(&b, "  schema text  %s\n", m.Text())
	fmt.Fprintf(&b, "  shape        %s  (%s)\n", fmt.Sprintf("% x", r.Shape), count(len(r.Shape), "byte"))
	fmt.Fprintf(&b, "  row          %s: %s in %s, %s of slots, %s\n", count(int(r.Stride), "byte"),
		count(int(r.Bits), "bit"), count(int(r.BitBytes), "byte"), count(int(slots), "byte"), count(int(r.Ends), "end"))
	if len(r.Fields) > 0 {
		fmt.Fprintln(&b)
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  number\tfield\tkind\tcode\tbit\toffset\tsize")
		for i := range r.Fields {
			row(t, &m.Fields[i], &r.Fields[i])
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	if m.Inline {
		fmt.Fprintf(&b, "\n  inline       %s\n\n", count(m.Size, "byte"))
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  number\tfield\tkind\toffset\tsize")
		packed(t, m, "", 0)
		if err := t.Flush(); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// row prints one field of a row.
func row(w io.Writer, f *layout.Field, rf *layout.RowField) {
	code := fmt.Sprint(rf.Code)
	if rf.Code == layout.Ext {
		code = fmt.Sprintf("7 k=%d", rf.K)
		if rf.K == 0 {
			code += fmt.Sprintf(" e=%d", rf.E)
		}
	}
	offset, size := fmt.Sprint(rf.Off), fmt.Sprint(rf.Size())
	switch {
	case rf.Code == layout.Bool:
		offset, size = fmt.Sprintf("bit %d", rf.Bit+1), "1 bit"
	case rf.Variable():
		size = "end"
	}
	fmt.Fprintf(w, "  %d\t%s\t%s\t%s\t%d\t%s\t%s\n", f.Number, f.Desc.Name(), kind(f), code, rf.Bit, offset, size)
}

// packed prints the fields of an inline message as they stand in its parent's row.
func packed(w io.Writer, m *layout.Message, prefix string, base int) {
	for i := range m.Packed {
		p := &m.Packed[i]
		name := prefix + string(p.Desc.Name())
		if p.Child != nil {
			packed(w, p.Child, name+".", base+p.Off)
			continue
		}
		fmt.Fprintf(w, "  %d\t%s\t%s\t%d\t%d\n", p.Desc.Number(), name, narrow(p.Kind.String(), p.Width), base+p.Off, p.Size)
	}
}

// kind is what a .proto says of a field.
func kind(f *layout.Field) string {
	if f.Desc.IsMap() {
		return fmt.Sprintf("map<%s, %s>", kind(&f.Child.Fields[0]), kind(&f.Child.Fields[1]))
	}
	s := narrow(f.Kind.String(), f.Width)
	switch {
	case f.Inline:
		s = "inline " + string(f.Child.Name())
	case f.Child != nil:
		s = string(f.Child.Name())
	}
	if f.Desc.IsList() {
		return "repeated " + s
	}
	return s
}

func narrow(kind string, width int) string {
	if width == 0 {
		return kind
	}
	return fmt.Sprintf("%s/%d", kind, width)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
