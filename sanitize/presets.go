package sanitize

import (
	"cmp"
	"slices"
)

// Presets.
const (
	PresetStrict    = "strict"
	PresetFidelity  = "fidelity"
	PresetECSLogs   = "ecs-logs"   // fidelity, with rules for logs in the Elastic Common Schema
	PresetCommerce  = "commerce"   // fidelity, with rules for shops
	PresetShapeOnly = "shape-only" // strict, and every literal a constant
	PresetSealed    = "sealed"     // nothing replaced, blocks encrypted to the recipients
	PresetOff       = "off"
)

// Presets lists the presets, the default first.
func Presets() []string {
	return []string{
		PresetStrict, PresetFidelity, PresetECSLogs, PresetCommerce, PresetShapeOnly, PresetSealed, PresetOff,
	}
}

// kind is the preset whose settings a preset has.
func (c *Config) kind() string {
	switch c.Preset {
	case PresetFidelity, PresetECSLogs, PresetCommerce:
		return PresetFidelity
	}
	return PresetStrict
}

// withPreset is c with every setting that was left open filled in.
func (c Config) withPreset() Config {
	type choice struct {
		setting          *string
		strict, fidelity string
	}
	for _, s := range []choice{
		{&c.FieldNames, cmp.Or(c.Defaults.UnknownFieldName, "schema"), cmp.Or(c.Defaults.UnknownFieldName, "schema")},
		{&c.Numbers, "fpe", "guard"},
		{&c.Dates, "shift", "keep"},
		{&c.Now, "anchor", "anchor"},
		{&c.Geo, "coarse", "keep"},
		{&c.Vectors, "drop", "keep"},
		{&c.Scripts, "code", "literals"},
		{&c.Indices.Other, "tokens", "keep"},
		{&c.IDs.Action, "tokens", "tokens"},
		{&c.IDs.Domain, domainIDs, domainIDs},
		{&c.Detectors.InKeptFields, detectDrop, detectReport},
	} {
		switch {
		case *s.setting != "":
		case c.kind() == PresetFidelity:
			*s.setting = s.fidelity
		default:
			*s.setting = s.strict
		}
	}
	if c.Preset == PresetShapeOnly {
		for _, s := range []*string{&c.Defaults.Integer.Action, &c.Defaults.Float.Action} {
			*s = cmp.Or(*s, "mask")
		}
		c.Defaults.String.Action = cmp.Or(c.Defaults.String.Action, "shape")
	}
	c.Fields = slices.Concat(c.Fields, presetRules(c.Preset))
	d := Default()
	if c.MaxDepth == 0 {
		c.MaxDepth = d.MaxDepth
	}
	if c.MaxBody == 0 {
		c.MaxBody = d.MaxBody
	}
	if c.WordCache == 0 {
		c.WordCache = d.WordCache
	}
	yes := true
	if c.Postcheck == nil {
		c.Postcheck = &yes
	}
	if c.Indices.KeepDateSuffix == nil {
		c.Indices.KeepDateSuffix = &yes
	}
	return c
}

// presetRules are the rules of a preset, which stand behind those of the
// configuration.
func presetRules(preset string) []FieldRule {
	secrets := FieldRule{Match: Globs{
		"**.password", "**.passwd", "**.secret", "**.token", "**.access_token", "**.refresh_token", "**.api_key", "**.apikey", "**.authorization",
		"**.cookie", "**.private_key",
	}, Action: "mask", Locked: true}
	keep := func(why string, match ...string) FieldRule {
		return FieldRule{Match: match, Action: "keep", Why: why}
	}
	switch preset {
	case PresetECSLogs:
		return []FieldRule{
			secrets,
			keep("time", "@timestamp", "event.created", "event.ingested", "event.start", "event.end"),
			keep("names that ECS lists", "log.level", "event.kind", "event.category", "event.type", "event.outcome", "event.dataset", "event.module"),
			keep("names that developers give", "service.name", "service.type", "service.version", "service.environment", "ecs.version",
				"agent.type", "agent.version", "log.logger", "error.type", "data_stream.*"),
			keep("words of a protocol", "http.request.method", "http.version", "network.protocol", "network.transport", "network.type", "url.scheme"),
			{Match: Globs{"**.ip", "**.nat.ip", "client.address", "source.address"}, Action: "ip-prefix"},
			{Match: Globs{"url.full", "url.original", "http.request.referrer"}, Action: "url"},
			{Match: Globs{"**.email"}, Action: "email"},
			{Match: Globs{"**.geo.location"}, Action: "geo-grid", Step: "0.1"},
		}
	case PresetCommerce:
		return []FieldRule{
			secrets,
			{Match: Globs{"**.id_card", "**.idcard", "**.identity_no", "**.ssn", "**.card_number", "**.bank_card", "**.iban"}, Action: "mask", Locked: true},
			{Match: Globs{"**.phone", "**.mobile", "**.telephone", "**.tel", "**.fax", "**.phone_number"}, Action: "fpe"},
			{Match: Globs{"**.user_id", "**.customer_id", "**.account_id", "**.member_id"}, Action: "fpe"},
			{Match: Globs{"**.email", "**.mail"}, Action: "email"},
			{Match: Globs{"**.ip", "**.client_ip"}, Action: "ip-prefix"},
			{Match: Globs{"**.birthday", "**.birth_date", "**.date_of_birth"}, Action: "date-shift"},
			{Match: Globs{"**.location", "**.geo", "**.coordinates"}, Action: "geo-grid", Step: "0.01"},
			keep("names of a shop's states", "**.status", "**.currency", "**.payment_method", "**.in_stock"),
		}
	}
	return nil
}
