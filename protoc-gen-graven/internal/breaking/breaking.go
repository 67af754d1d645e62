// Package breaking compares two versions of a schema and finds the changes that
// are not safe between Graven peers of the two: values that one misreads,
// refuses, loses or can't send on. What the format can and can't tell it learns from
// package layout.
package breaking

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graven-rpc/graven/protoc-gen-graven/internal/schema"
)

// Exit codes, as buf has them.
const (
	exitOK       = 0
	exitError    = 1
	exitFindings = 100
)

const usage = `Usage: protoc-gen-graven breaking [NEW] --against OLD [flags]

Finds changes from OLD to NEW that are not safe between Graven peers of the two.
NEW (by default the working directory) and OLD are buf images or
FileDescriptorSets (binary or JSON, also compressed with gzip; - is the standard input), .proto
files or folders of them.

Prints one line for each finding and exits with 100 if there are any, with 1 after
an error, else with 0.

`

// list is a flag that may be given several times, or with several values
// separated by commas.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(v string) error {
	*l = append(*l, strings.Split(v, ",")...)
	return nil
}

// settings are the flags.
type settings struct {
	input          string
	against        list
	roots          list
	format         string
	except         list
	path, exclude  list
	excludeImports bool
	allRoots       bool
}

// Run is the command. args are what follows its name. It returns the exit code: 0,
// 100 if there are findings, 1 after an error. Findings go to stdout, errors to stderr.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	set, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return fail(stderr, err)
	}
	findings, err := set.run(stdin)
	if err != nil {
		return fail(stderr, err)
	}
	if err := Format(set.format).write(stdout, findings); err != nil {
		return fail(stderr, err)
	}
	if len(findings) > 0 {
		return exitFindings
	}
	return exitOK
}

func fail(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "Failure: %v\n", err)
	return exitError
}

// parse reads the flags, which may stand before and behind the input.
func parse(args []string, stdout io.Writer) (*settings, error) {
	s := &settings{input: "."}
	f := flag.NewFlagSet("breaking", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Var(&s.against, "against", "the `OLD` schema; several are compared with NEW one by one")
	f.StringVar(&s.format, "error-format", string(Text), "how to print findings: text, json or github-actions")
	f.Var(&s.except, "except", "`rule`s to leave out")
	f.Var(&s.path, "path", "only findings in these files and `folder`s")
	f.Var(&s.exclude, "exclude-path", "no findings in these files and `folder`s")
	f.BoolVar(&s.excludeImports, "exclude-imports", false, "no findings in files that are only imported")
	f.BoolVar(&s.allRoots, "all-roots", false, "take every message type for a possible root of a frame, not only requests, responses\nand top-level types that no field has")
	f.Var(&s.roots, "I", "`folder`s to find the imports of .proto files in")
	var inputs []string
	for {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				help(f, stdout)
			}
			return nil, err
		}
		args = f.Args()
		if len(args) == 0 {
			break
		}
		inputs, args = append(inputs, args[0]), args[1:]
	}
	switch {
	case len(inputs) > 1:
		return nil, fmt.Errorf("one input is expected, not %d: %s", len(inputs), strings.Join(inputs, " "))
	case len(inputs) == 1:
		s.input = inputs[0]
	}
	if len(s.against) == 0 {
		return nil, errors.New("--against is missing: name the schema to compare with")
	}
	if !slices.Contains(formats, Format(s.format)) {
		return nil, fmt.Errorf("--error-format: %q is none of text, json and github-actions", s.format)
	}
	for i, id := range s.except {
		r, ok := byID(id)
		if !ok {
			return nil, fmt.Errorf("--except: there is no rule %q; --help lists them", id)
		}
		s.except[i] = r.ID
	}
	return s, nil
}

func help(f *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, usage)
	fmt.Fprint(w, "Flags:\n")
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprint(w, "\nRules:\n")
	for _, r := range Rules {
		fmt.Fprintf(w, "  %s\n        %s\n", r.ID, r.Summary)
	}
}

func (s *settings) run(stdin io.Reader) ([]Finding, error) {
	o := schema.Options{Roots: s.roots, Stdin: stdin}
	is, err := schema.Load(s.input, o)
	if err != nil {
		return nil, err
	}
	var all []Finding
	for _, against := range s.against {
		was, err := schema.Load(against, o)
		if err != nil {
			return nil, err
		}
		found, err := Compare(was, is, s.allRoots)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	imported := map[string]bool{}
	for _, f := range is.Files {
		imported[f.External] = f.Import
	}
	return sorted(slices.DeleteFunc(all, func(f Finding) bool {
		return slices.Contains(s.except, f.Rule) ||
			s.excludeImports && imported[f.Path] ||
			len(s.path) > 0 && !within(f.Path, s.path) ||
			within(f.Path, s.exclude)
	})), nil
}

// within reports whether a file is one of the paths or below one.
func within(file string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		p = strings.TrimSuffix(p, "/")
		return file == p || strings.HasPrefix(file, p+"/") || p == "."
	})
}
