package sanitize

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/esshadow/esshadow/internal/es"
)

// Pipeline holds what all workers of a capture share: the rules, the subkeys,
// the tables. It is read-only and safe for use by any number of goroutines.
type Pipeline struct {
	cfg    Config
	rules  []fieldRule
	style  style // of the text domain
	plain  style // of the others: without words that stay
	keyID  string
	hash   string
	scope  string
	g      *grammar
	text   *domainKeys
	ids    *domainKeys
	index  *domainKeys
	handle *domainKeys

	domains map[string]*domainKeys // that rules name
	other   action                 // for strings that no rule is for

	ints, floats      numberMode
	minDigits, digits int
	boolean           action
	detect            *detectors
	mixed             bool // rules treat fields unlike the default
	places            bool // rules are for places

	snapshot   *es.Schema     // nil without one
	schema     *es.FieldTable // of all its indices; nil without one
	schemaHash string
	styles     map[string]styleKey // by field
	byField    bool                // what becomes of a value depends on its field

	headers    map[string]headerKind
	params     map[string]prim
	bodies     bodyNodes
	vocabulary *runSet
	classes    *[256]uint8 // of bytes, for the post-check
}

// New builds a Pipeline. salt is the capture's; it is used where pseudonyms are
// to hold for one capture only (see Config.Scope). Errors name every mistake of
// the configuration.
func New(cfg Config, key Key, salt []byte) (*Pipeline, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("sanitize: %w", err)
	}
	cfg = cfg.withPreset()
	if !key.set {
		return nil, fmt.Errorf("sanitize: %w", ErrNoKey)
	}
	scope := "capture"
	switch {
	case cfg.Scope == "project", cfg.Scope == "" && !key.ephemeral:
		scope, salt = "project", nil
	case len(salt) == 0:
		return nil, errors.New("sanitize: scope capture needs a capture salt")
	}
	p := &Pipeline{cfg: cfg, keyID: key.ID(), scope: scope}
	var err error
	if p.hash, err = hashRules(cfg); err != nil {
		return nil, err
	}
	if p.g, err = newGrammar(bodyTables); err != nil {
		return nil, err
	}
	for name, to := range map[string]**domainKeys{
		domainText: &p.text, domainIDs: &p.ids, domainIndices: &p.index, domainHandles: &p.handle,
	} {
		if *to, err = newDomainKeys(key, salt, name); err != nil {
			return nil, err
		}
	}
	if cfg.IDs.Domain == domainText {
		p.ids = p.text
	}
	p.style = newStyle(cfg)
	if err = p.addRules(cfg, key, salt); err != nil {
		return nil, err
	}
	if err = p.addSchema(cfg.Snapshot); err != nil {
		return nil, err
	}
	p.plain = p.style
	p.plain.keep = nil
	p.plain.keepPlaces = false
	p.headers = headerKinds(cfg.Headers.Keep)
	p.params = paramKinds(cfg.Params.Keep)
	p.bodies = newBodyNodes(p.g)
	p.classes = postClasses()
	p.vocabulary = newVocabulary(p.g, p.classes)
	return p, nil
}

// addRules reads the rules and makes what they need besides.
func (p *Pipeline) addRules(cfg Config, key Key, salt []byte) error {
	p.rules = compileRules(cfg.Fields, p.style)
	p.other, _ = parseAction(cmp.Or(cfg.Defaults.String.Action, "tokens"))
	p.boolean, _ = parseAction(cmp.Or(cfg.Defaults.Boolean.Action, "keep"))
	p.ints, p.floats, p.minDigits, p.digits = cfg.numberModes()
	p.detect = newDetectors(cfg.Detectors)
	p.mixed = slices.ContainsFunc(p.rules, func(r fieldRule) bool { return r.action != p.other || r.style != nil || r.domain != domainText })
	p.places = slices.ContainsFunc(p.rules, func(r fieldRule) bool { return r.action == actGeoGrid || r.action == actLonShift })
	p.domains = map[string]*domainKeys{domainText: p.text, domainIDs: p.ids}
	for name := range cfg.Domains {
		keys, err := newDomainKeys(key, salt, name)
		if err != nil {
			return err
		}
		p.domains[name] = keys
	}
	if name := cfg.Defaults.String.Domain; name != "" {
		p.text = p.domains[name]
	}
	if len(p.rules) == 0 {
		return nil
	}
	chars := newAlphabets()
	for name, keys := range p.domains {
		var err error
		if keys.moreKeys, err = newMoreKeys(key, salt, name, chars); err != nil {
			return err
		}
	}
	return nil
}

func newStyle(cfg Config) style {
	s := style{shiftDates: cfg.Dates == "shift", keepPlaces: cfg.Geo == "keep", keep: make(map[string]bool)}
	for _, w := range stopWords() {
		s.keep[w] = true
	}
	for _, w := range cfg.KeepWords {
		s.keep[string(foldRunes(nil, []byte(w)))] = true
	}
	return s
}

// newVocabulary holds the words of the API, which stand in every record.
func newVocabulary(g *grammar, classes *[256]uint8) *runSet {
	set := newRunSet(newSeed())
	p := postcheck{orig: set, kept: set, class: classes}
	g.words(func(w string) { p.keep([]byte(w)) })
	for _, w := range apiWords() {
		p.keep([]byte(w))
	}
	return set
}

// hashRules names a policy: equal rules, equal hash, 16 hex digits.
func hashRules(cfg Config) (string, error) {
	text, err := json.Marshal(cfg)
	if err != nil {
		return "", fmt.Errorf("sanitize: hash rules: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// KeyID names the key, see Key.ID; "" for presets off and sealed, whose records are not
// pseudonymised.
func (p *Pipeline) KeyID() string {
	if p.cfg.whole() {
		return ""
	}
	return p.keyID
}

// RulesHash names the policy, 16 hex digits.
func (p *Pipeline) RulesHash() string { return p.hash }

// Scope is project where pseudonyms do not depend on the capture's salt, capture
// where they do.
func (p *Pipeline) Scope() string { return p.scope }

// Preset is the preset's name.
func (p *Pipeline) Preset() string { return p.cfg.Preset }

// bodyNodes are the kinds of whole bodies.
type bodyNodes struct {
	query, doc, bulkMeta, update, msearchHeader, params node
	byOp                                                map[es.Op]node
}

func newBodyNodes(g *grammar) bodyNodes {
	at := func(name string) node { return node{object: g.objects[name]} }
	return bodyNodes{
		query: at("query"), doc: node{scalar: pDoc}, bulkMeta: at("bulk_meta"), update: at("update"),
		msearchHeader: at("msearch_header"), params: at("values"),
		byOp: map[es.Op]node{
			es.OpSearch: at("search"), es.OpAsyncSearch: at("search"), es.OpKnnSearch: at("search"),
			es.OpMsearch: at("search"), es.OpMsearchTemplate: at("template_search"),
			es.OpSearchTemplate: at("template_search"), es.OpRender: at("template_search"),
			es.OpCount: at("count"), es.OpValidate: at("count"), es.OpExplain: at("count"),
			es.OpGet: at("mget_doc"), es.OpExists: at("mget_doc"), es.OpMget: at("mget"),
			es.OpTermvectors: at("termvectors"), es.OpMtermvectors: at("termvectors"),
			es.OpTermsEnum: at("terms_enum"), es.OpFieldCaps: at("field_caps"),
			es.OpRankEval: at("rank_eval"), es.OpSearchShards: at("search_shards"), es.OpGraph: at("graph"),
			es.OpScroll: at("scroll"), es.OpClearScroll: at("scroll"),
			es.OpOpenPIT: at("open_pit"), es.OpClosePIT: at("close_pit"),
			es.OpIndex: {scalar: pDoc}, es.OpCreate: {scalar: pDoc}, es.OpUpdate: at("update"),
			es.OpUpdateByQuery: at("by_query"), es.OpDeleteByQuery: at("by_query"), es.OpReindex: at("reindex"),
			es.OpESQL: at("esql"), es.OpESQLAsync: at("esql"), es.OpSQL: at("sql"), es.OpSQLAsync: at("sql"), es.OpSQLClose: at("sql_close"),
			es.OpEQL: at("eql"), es.OpEQLAsync: at("eql"), es.OpPPL: at("ppl"),
			es.OpSearchApplication: at("application"), es.OpMVT: at("mvt"), es.OpAnalyze: at("analyze"),
		},
	}
}

// bodiless tells the operations that are captured although no body of theirs is
// known: a body with one drops the record.
func bodiless(op es.Op) bool {
	switch op {
	case es.OpInfo, es.OpResolve, es.OpAsyncGet, es.OpAsyncStatus, es.OpAsyncDelete, es.OpListPIT, es.OpDelete, es.OpRefresh:
		return true
	}
	return false
}
