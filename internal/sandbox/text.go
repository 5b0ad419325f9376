package sandbox

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleve "github.com/blevesearch/bleve_index_api"
)

// standardAnalyzer splits at Unicode word boundaries and folds case, as
// Elasticsearch's standard analyser does.
func standardAnalyzer() analysis.Analyzer {
	return &analysis.DefaultAnalyzer{
		Tokenizer:    unicode.NewUnicodeTokenizer(),
		TokenFilters: []analysis.TokenFilter{lowercase.NewLowerCaseFilter()},
	}
}

// textIndex holds the text fields of one index in bleve. New documents wait in
// pending until flush; each flush makes a part, and parts of about the same
// size are made one when there are many, so that few parts need be searched.
// Bleve's parts are only ever added to by making new ones: which documents are
// alive is known to the index, not here.
type textIndex struct {
	analyzer analysis.Analyzer
	queue    *bleve.AnalysisQueue
	parts    []*part
	pending  []*doc
	tokens   map[int]int64 // tokens of a field (by ordinal) in living, flushed documents
	having   map[int]int64 // living, flushed documents that have the field
}

// part is one in-memory bleve index, written once.
type part struct {
	ix   bleve.Index
	rd   bleve.IndexReader
	docs []*doc // by bleve's document number
}

// fanIn is how many parts of a size there may be before they are made one.
const fanIn = 8

func newTextIndex(queue *bleve.AnalysisQueue) *textIndex {
	return &textIndex{analyzer: standardAnalyzer(), queue: queue, tokens: map[int]int64{}, having: map[int]int64{}}
}

// terms is the analysed form of a text.
func (t *textIndex) terms(s string) []string {
	var out []string
	for _, tok := range t.analyzer.Analyze([]byte(s)) {
		out = append(out, string(tok.Term))
	}
	return out
}

// forget takes a flushed document that died out of the statistics.
func (t *textIndex) forget(d *doc) {
	for ord, n := range d.lens {
		t.tokens[ord] -= int64(n)
		t.having[ord]--
	}
}

// flush makes pending documents searchable. keep says which documents of old
// parts must stay when parts are made one.
func (t *textIndex) flush(m *mapping, keep func(*doc) bool) error {
	if len(t.pending) == 0 {
		return nil
	}
	docs := t.pending
	t.pending = nil
	p, err := t.build(m, docs, true)
	if err != nil {
		return err
	}
	t.parts = append(t.parts, p)
	for {
		last := len(t.parts) - 1
		level := sizeLevel(t.parts[last])
		from := last
		for from > 0 && sizeLevel(t.parts[from-1]) <= level {
			from--
		}
		if last-from+1 < fanIn {
			return nil
		}
		if err := t.join(m, from, keep); err != nil {
			return err
		}
	}
}

func sizeLevel(p *part) int { return int(math.Log(float64(len(p.docs)+1)) / math.Log(fanIn)) }

func (t *textIndex) join(m *mapping, from int, keep func(*doc) bool) error {
	var docs []*doc
	for _, p := range t.parts[from:] {
		for _, d := range p.docs {
			if keep(d) {
				docs = append(docs, d)
			}
		}
	}
	joined, err := t.build(m, docs, false)
	if err != nil {
		return err
	}
	for _, p := range t.parts[from:] {
		p.close()
	}
	t.parts = append(t.parts[:from:from], joined)
	return nil
}

// build makes a part of documents; with count they enter the statistics.
func (t *textIndex) build(m *mapping, docs []*doc, count bool) (*part, error) {
	var texts []*field
	for _, f := range m.byPath {
		if f.typ == text {
			texts = append(texts, f)
		}
	}
	ix, err := scorch.NewScorch(scorch.Name, map[string]any{"path": ""}, t.queue)
	if err != nil {
		return nil, fmt.Errorf("make a text index: %w", err)
	}
	if err := ix.Open(); err != nil {
		return nil, fmt.Errorf("open a text index: %w", err)
	}
	p := &part{ix: ix}
	batch := bleve.NewBatch()
	fields := make([]map[int][]*document.TextField, len(docs))
	for i, d := range docs {
		fields[i] = d.textFields(texts, t.analyzer)
		out := document.NewDocument(strconv.Itoa(i))
		out.AddIDField()
		for _, fs := range fields[i] {
			for _, f := range fs {
				out.AddField(f)
			}
		}
		batch.Update(out)
	}
	if err := ix.Batch(batch); err != nil {
		p.close()
		return nil, fmt.Errorf("index text: %w", err)
	}
	if count {
		t.count(docs, fields)
	}
	return p, p.open(docs)
}

func (d *doc) textFields(texts []*field, an analysis.Analyzer) map[int][]*document.TextField {
	const options = bleve.IndexField | bleve.IncludeTermVectors
	out := make(map[int][]*document.TextField, len(texts))
	for _, f := range texts {
		for i, v := range d.values(f) {
			at := []uint64{uint64(i)}
			out[f.ord] = append(out[f.ord], document.NewTextFieldCustom(f.path, at, []byte(v.s), options, an))
		}
	}
	return out
}

func (t *textIndex) count(docs []*doc, fields []map[int][]*document.TextField) {
	for i, d := range docs {
		d.lens = make(map[int]int32, len(fields[i]))
		for ord, fs := range fields[i] {
			n := 0
			for _, f := range fs {
				n += f.AnalyzedLength()
			}
			d.lens[ord] = int32(n)
			t.tokens[ord] += int64(n)
			t.having[ord]++
		}
	}
}

// open makes a reader, and the table from bleve's document numbers to ours.
func (p *part) open(docs []*doc) error {
	rd, err := p.ix.Reader()
	if err != nil {
		return fmt.Errorf("read a text index: %w", err)
	}
	p.rd, p.docs = rd, make([]*doc, len(docs))
	for i := range docs {
		id, err := rd.ExternalID(bleve.NewIndexInternalID(nil, uint64(i)))
		if err != nil {
			return fmt.Errorf("read a text index: %w", err)
		}
		n, err := strconv.Atoi(id)
		if err != nil || n >= len(docs) {
			return fmt.Errorf("read a text index: unexpected document id")
		}
		p.docs[i] = docs[n]
	}
	return nil
}

func (p *part) close() {
	if p.rd != nil {
		_ = p.rd.Close() // in memory: nothing can be lost
	}
	_ = p.ix.Close()
}

func (t *textIndex) close() {
	for _, p := range t.parts {
		p.close()
	}
	t.parts, t.pending = nil, nil
}

// posting is one document that holds a term.
type posting struct {
	d    *doc
	freq int
	at   []uint64 // positions, where asked for; values of an array lie far apart
}

// postings is the documents, dead ones included, that hold a term.
func (t *textIndex) postings(path, term string, positions bool) ([]posting, error) {
	var out []posting
	for _, p := range t.parts {
		tr, err := p.rd.TermFieldReader(context.Background(), []byte(term), path, true, false, positions)
		if err != nil {
			return nil, fmt.Errorf("read postings: %w", err)
		}
		var hit bleve.TermFieldDoc
		for {
			h, err := tr.Next(hit.Reset())
			if err != nil {
				_ = tr.Close()
				return nil, fmt.Errorf("read postings: %w", err)
			}
			if h == nil {
				break
			}
			ps := posting{d: p.docs[h.ID.Value()], freq: int(h.Freq)}
			for _, v := range h.Vectors {
				at := v.Pos
				if len(v.ArrayPositions) > 0 {
					at += v.ArrayPositions[0] << 32
				}
				ps.at = append(ps.at, at)
			}
			out = append(out, ps)
		}
		_ = tr.Close()
	}
	return out, nil
}

// dictionary is the terms of a field that a test accepts.
func (t *textIndex) dictionary(path string, accept func(string) bool) ([]string, error) {
	seen := map[string]bool{}
	for _, p := range t.parts {
		dict, err := p.rd.FieldDict(path)
		if err != nil {
			return nil, fmt.Errorf("read the dictionary: %w", err)
		}
		for {
			e, err := dict.Next()
			if err != nil || e == nil {
				break
			}
			if !seen[e.Term] && accept(e.Term) {
				seen[e.Term] = true
			}
		}
		_ = dict.Close()
	}
	out := make([]string, 0, len(seen))
	for s := range seen {
		out = append(out, s)
	}
	return out, nil
}
