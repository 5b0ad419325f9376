package sanitize

import (
	"testing"

	"github.com/esshadow/esshadow/internal/es"
)

// What may be called kept follows from the configuration alone, and any setting
// that could treat a field in another way takes the word back.
func TestKeptClasses(t *testing.T) {
	fidelity := KeptClasses{Indices: true, Values: true, Guarded: true}
	names := KeptClasses{Indices: true}
	for name, x := range map[string]struct {
		preset string
		change func(*Config)
		want   KeptClasses
	}{
		"strict":         {PresetStrict, nil, KeptClasses{}},
		"shape-only":     {PresetShapeOnly, nil, KeptClasses{}},
		"off":            {PresetOff, nil, KeptClasses{}},
		"sealed":         {PresetSealed, nil, KeptClasses{}},
		"fidelity":       {PresetFidelity, nil, fidelity},
		"commerce":       {PresetCommerce, nil, names},
		"ecs-logs":       {PresetECSLogs, nil, names},
		"names replaced": {PresetFidelity, func(c *Config) { c.Indices.Other = "tokens" }, KeptClasses{Values: true, Guarded: true}},
		"names kept":     {PresetStrict, func(c *Config) { c.Indices.Other = "keep" }, names},
		"all numbers":    {PresetFidelity, func(c *Config) { c.Numbers = "keep" }, KeptClasses{Indices: true, Values: true}},
		"no numbers":     {PresetFidelity, func(c *Config) { c.Numbers = "fpe" }, names},
		"dates moved":    {PresetFidelity, func(c *Config) { c.Dates = "shift" }, names},
		"no places":      {PresetFidelity, func(c *Config) { c.Geo = "coarse" }, names},
		"no vectors":     {PresetFidelity, func(c *Config) { c.Vectors = "drop" }, names},
		"a rule":         {PresetFidelity, func(c *Config) { c.Fields = []FieldRule{{Match: Globs{"a"}, Action: "mask"}} }, names},
		"a domain":       {PresetFidelity, func(c *Config) { c.Domains = map[string]Domain{"d": {}} }, names},
		"a schema":       {PresetFidelity, func(c *Config) { c.Snapshot = &es.Schema{} }, names},
		"integers":       {PresetFidelity, func(c *Config) { c.Defaults.Integer.Action = "mask" }, names},
		"fractions":      {PresetFidelity, func(c *Config) { c.Defaults.Float.Action = "bucket" }, names},
		"strings":        {PresetFidelity, func(c *Config) { c.Defaults.String.Action = "mask" }, names},
	} {
		t.Run(name, func(t *testing.T) {
			c := Default()
			c.Preset = x.preset
			if x.change != nil {
				x.change(&c)
			}
			if got := c.KeptClasses(); got != x.want {
				t.Errorf("%+v, want %+v", got, x.want)
			}
		})
	}
}
