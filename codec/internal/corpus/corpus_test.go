package corpus

import "testing"

func TestRandomSchemasCompile(t *testing.T) {
	kinds := make(map[string]int)
	for seed := range uint64(300) {
		s := RandomSchema(seed, "rnd")
		if _, err := Compile("rnd.proto", s.Text()); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, s.Text())
		}
		for _, m := range s.Messages {
			for _, f := range m.Fields {
				kinds[f.Kind]++
			}
		}
	}
	for _, k := range append([]string{"enum", "message", "group", "map"}, scalarKinds...) {
		if kinds[k] == 0 {
			t.Errorf("no field of kind %s", k)
		}
	}
}
