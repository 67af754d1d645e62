package breaking

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Finding is one change that is not safe, at the place in the new schema where
// it shows.
type Finding struct {
	Path               string // of the file, "" if the file is gone
	Line, Column       int    // from 1; 1 where the schema has no source info, 0 without a file
	EndLine, EndColumn int    // from 1, the end behind the last character
	Rule               string // id
	Message            string
}

// sorted puts findings in buf's order and drops those that are the same.
func sorted(list []Finding) []Finding {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message),
			cmp.Compare(a.EndLine, b.EndLine), cmp.Compare(a.EndColumn, b.EndColumn))
	})
	return slices.Compact(list)
}

// Format is how findings are printed: one line each, as buf does with --error-format.
type Format string

// The formats.
const (
	Text          Format = "text"
	JSON          Format = "json"
	GitHubActions Format = "github-actions"
)

var formats = []Format{Text, JSON, GitHubActions}

// write prints findings.
func (f Format) write(w io.Writer, list []Finding) error {
	var b bytes.Buffer
	for i := range list {
		switch f {
		case JSON:
			if err := list[i].json(&b); err != nil {
				return err
			}
		case GitHubActions:
			list[i].github(&b)
		default:
			list[i].text(&b)
		}
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}

// input stands for a file that is gone.
const input = "<input>"

func (f *Finding) text(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s:%d:%d:%s", cmp.Or(f.Path, input), max(1, f.Line), max(1, f.Column), f.Message)
}

func (f *Finding) json(b *bytes.Buffer) error {
	line, err := json.Marshal(struct {
		Path        string `json:"path,omitempty"`
		StartLine   int    `json:"start_line,omitempty"`
		StartColumn int    `json:"start_column,omitempty"`
		EndLine     int    `json:"end_line,omitempty"`
		EndColumn   int    `json:"end_column,omitempty"`
		Type        string `json:"type,omitempty"`
		Message     string `json:"message,omitempty"`
	}{f.Path, max(1, f.Line), max(1, f.Column), max(1, f.EndLine), max(1, f.EndColumn), f.Rule, f.Message})
	b.Write(line)
	return err
}

func (f *Finding) github(b *bytes.Buffer) {
	fmt.Fprintf(b, "::error file=%s", cmp.Or(f.Path, input))
	if f.Line > 0 {
		fmt.Fprintf(b, ",line=%d,col=%d,endLine=%d,endColumn=%d", f.Line, max(1, f.Column), max(1, f.EndLine), max(1, f.EndColumn))
	}
	fmt.Fprintf(b, "::%s", f.Message)
}
