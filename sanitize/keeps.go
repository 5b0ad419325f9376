package sanitize

// KeptClasses says of which classes of values a configuration keeps all, whatever
// the field. What it does not say may still be kept by a rule.
type KeptClasses struct {
	Indices bool // names of indices
	Values  bool // numbers, dates, places and vectors
	Guarded bool // of Values, numbers that look like a person's are not kept
}

// KeptClasses is what the configuration's defaults keep. Where a rule, a schema or
// a setting of its own may treat some field's values in another way, Values is
// false.
func (c Config) KeptClasses() KeptClasses {
	if c.whole() {
		return KeptClasses{}
	}
	c = c.withPreset()
	d := &c.Defaults
	k := KeptClasses{Indices: c.Indices.Other == "keep"}
	if len(c.Fields) > 0 || len(c.Domains) > 0 || c.Snapshot != nil || d.String.Action != "" || d.Integer.Action != "" || d.Float.Action != "" {
		return k
	}
	k.Values = (c.Numbers == "guard" || c.Numbers == "keep") && c.Dates == "keep" && c.Geo == "keep" && c.Vectors == "keep"
	k.Guarded = k.Values && c.Numbers == "guard"
	return k
}

// keep notes the runs of a text that stays by decision.
func (p *postcheck) keep(s []byte) { p.each(s, p.kept) }
