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

func TestVersionsCompile(t *testing.T) {
	changes := make(map[string]int)
	for seed := range uint64(200) {
		before, after := Grown(seed, "rnd")
		b2, a2, list := Changed(seed, "rnd", seed%2 == 0)
		for _, s := range []*SchemaModel{before, after, b2, a2} {
			if _, err := Compile("rnd.proto", s.Text()); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, s.Text())
			}
		}
		if before.Text() == after.Text() {
			changes["nothing added"]++
		}
		for _, c := range list {
			changes[c.What]++
		}
	}
	for _, k := range []string{"removed", "renamed", "made optional", "int32 widened to int64", "singular made repeated", "repeated made singular"} {
		if changes[k] == 0 {
			t.Errorf("no field was %s", k)
		}
	}
	if changes["nothing added"] > 60 {
		t.Errorf("%d of 200 pairs are the same", changes["nothing added"])
	}
}
