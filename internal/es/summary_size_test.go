package es

import (
	"testing"
	"unsafe"
)

// TestSummarySize: no Summary takes more than it says.
func TestSummarySize(t *testing.T) {
	const search = `{"took":1,"hits":{"hits":[{"_id":"a"},{"_id":"b"}]},"aggregations":{"a":{"buckets":[{"key":1,"doc_count":2},{"key":2,"doc_count":1}]}}}`
	for _, c := range []struct {
		op     Op
		answer string
	}{
		{OpSearch, `{}`},
		{OpSearch, search},
		{OpMsearch, `{"responses":[{"status":200},` + search + `,` + search + `]}`},
		{OpBulk, `{"items":[{"index":{"status":200}},{"delete":{"status":404}}]}`},
	} {
		s := Summarize(c.op, 200, "application/json", "", []byte(c.answer), Mapper{})
		if got, least := s.Size(), taken(s); got < least || got > least+least/4 {
			t.Errorf("%s: %d bytes, says %d", c.answer, least, got)
		}
	}
}

// taken counts the bytes of s and of what it points at.
func taken(s *Summary) int {
	n := int(unsafe.Sizeof(summaryCell{}))
	for i := range s.IDs {
		n += len(s.IDs[i])
	}
	for i := range s.Aggs {
		n += int(unsafe.Sizeof(s.Aggs[i])) + len(s.Aggs[i].Path) + 8*cap(s.Aggs[i].Counts)
	}
	n += cap(s.Bulk) * int(unsafe.Sizeof(BulkCount{}))
	for i := range s.Items {
		n += int(unsafe.Sizeof(s.Items[i])) + taken(&s.Items[i].Summary)
	}
	return n
}
