package main

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/sanitize"
	"github.com/esshadow/esshadow/sanitize/audit"
	"github.com/esshadow/esshadow/sanitize/canary"
)

// canaryKept is one case whose marks the policy says that it keeps.
type canaryKept struct {
	Case     string   `json:"case"`
	Position string   `json:"position"`
	Classes  []string `json:"classes"` // index name, number, date, place
	Where    string   `json:"where"`
}

// keptBy is what a policy keeps, as the auditor knows it.
func keptBy(cfg sanitize.Config) audit.Kept {
	k := cfg.KeptClasses()
	return audit.Kept{Indices: k.Indices, Numbers: k.Values, Guarded: k.Guarded, Dates: k.Values, Places: k.Values}
}

// keptMarks tells for one case whether all its marks stand where the policy keeps
// values of their class: then the records that hold them show none of the marks
// without these values. places are all findings of the case's marks.
func keptMarks(kept audit.Kept, c *canary.Case, places []*audit.Finding, lines recordLines) (classes []string, ok bool, err error) {
	all := kept.Classes()
	if len(all) == 0 || c.Expect == canary.ExpectDropped {
		return nil, false, nil
	}
	var texts [][]byte
	for _, f := range places {
		found := lines[recordAt{f.Segment, f.Seq}]
		if len(found) == 0 || f.Seq < 0 {
			return nil, false, nil // a log, a page of metrics, a file's header
		}
		texts = append(texts, found...)
	}
	if shows, err := showsMarks(c, kept, texts); err != nil || shows {
		return nil, false, err
	}
	for _, class := range all {
		shows, err := showsMarks(c, class.Rest, texts)
		if err != nil {
			return nil, false, err
		}
		if shows {
			classes = append(classes, class.Name)
		}
	}
	return classes, true, nil
}

// showsMarks looks for a case's marks in records without the kept values.
func showsMarks(c *canary.Case, kept audit.Kept, lines [][]byte) (bool, error) {
	scan, err := audit.New(audit.Options{Words: c.Canaries})
	if err != nil {
		return false, err
	}
	for _, line := range lines {
		scan.Line("", kept.Without(line))
	}
	r := scan.Report()
	return r.Found > 0 || r.Undecoded > 0, nil
}

// recordAt is a place as findings tell it, by the name of the file: more than one
// line may say that it is there.
type recordAt struct {
	segment string
	seq     int64
}

type recordLines map[recordAt][][]byte

// readRecords reads the lines of the records in which something was found.
func readRecords(files []string, findings []audit.Finding) (recordLines, error) {
	out := recordLines{}
	for _, f := range findings {
		out[recordAt{f.Segment, f.Seq}] = nil
	}
	for _, path := range files {
		if err := out.read(path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l recordLines) read(path string) error {
	r, err := segment.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	for {
		line, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		at := recordAt{filepath.Base(path), audit.SeqOf(line)}
		if _, wanted := l[at]; wanted {
			l[at] = append(l[at], append([]byte(nil), line...))
		}
	}
}
