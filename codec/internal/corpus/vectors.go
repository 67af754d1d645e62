package corpus

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Hex is a string of bytes that JSON holds in hexadecimal.
type Hex []byte

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hex) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	*h = b
	return err
}

// Vector is an entry of valid.json, lenient.json or malformed.json.
type Vector struct {
	Name     string
	Schema   string // file of the schema
	Message  string // full name of the message
	JSON     json.RawMessage
	SchemaID string `json:"schema_id"` // 0x and 16 digits, or empty
	Frame    Hex
	Class    string // of malformed.json: incomplete, envelope, schema or message
}

// SkewVector is an entry of skew.json, refused.json or forward.json.
type SkewVector struct {
	Name         string
	WriterSchema string `json:"writer_schema"`
	ReaderSchema string `json:"reader_schema"`
	PeerSchema   string `json:"peer_schema"`
	Message      string
	JSON         json.RawMessage // of forward.json
	WriterJSON   json.RawMessage `json:"writer_json"`
	ReaderJSON   json.RawMessage `json:"reader_json"`
	Field        string          // of refused.json: full name
	Frame        Hex
	Forwarded    Hex // of forward.json
}

// RandomVector is an entry of random.json.
type RandomVector struct {
	Schema   string // text of the schema
	Messages []struct {
		Message string
		Proto   Hex // deterministic protobuf bytes
		Frame   Hex
	}
}

// Vectors are all vectors of the format.
type Vectors struct {
	Valid, Lenient, Malformed []Vector
	Skew, Refused, Forward    []SkewVector
	Random                    []RandomVector
}

// LoadVectors reads all vectors.
func LoadVectors() (*Vectors, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	v := new(Vectors)
	for name, to := range map[string]any{
		"valid":     &v.Valid,
		"lenient":   &v.Lenient,
		"malformed": &v.Malformed,
		"skew":      &v.Skew,
		"refused":   &v.Refused,
		"forward":   &v.Forward,
		"random":    &v.Random,
	} {
		b, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, to); err != nil {
			return nil, fmt.Errorf("%s.json: %w", name, err)
		}
	}
	return v, nil
}

// Frames returns every frame of the vectors, good and bad: seeds for fuzzing.
func (v *Vectors) Frames() [][]byte {
	var all [][]byte
	for _, list := range [][]Vector{v.Valid, v.Lenient, v.Malformed} {
		for _, e := range list {
			all = append(all, e.Frame)
		}
	}
	for _, list := range [][]SkewVector{v.Skew, v.Refused, v.Forward} {
		for _, e := range list {
			all = append(all, e.Frame)
			if len(e.Forwarded) > 0 {
				all = append(all, e.Forwarded)
			}
		}
	}
	for _, e := range v.Random {
		for _, m := range e.Messages {
			all = append(all, m.Frame)
		}
	}
	return all
}
