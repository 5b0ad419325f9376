package sandbox

import "testing"

func TestAggregations(t *testing.T) {
	e := shop(t, Options{})
	for _, tc := range []struct{ name, agg, want string }{
		{"terms", `{"terms":{"field":"brand"}}`, `{"buckets":[{"doc_count":2,"key":"acme"},{"doc_count":2,"key":"bolt"},{"doc_count":1,"key":"core"}],"doc_count_error_upper_bound":0,"sum_other_doc_count":0}`},
		{"terms cut", `{"terms":{"field":"brand","size":1}}`, `{"buckets":[{"doc_count":2,"key":"acme"}],"doc_count_error_upper_bound":0,"sum_other_doc_count":3}`},
		{"terms by key", `{"terms":{"field":"brand","order":{"_key":"desc"},"size":2}}`, `{"buckets":[{"doc_count":1,"key":"core"},{"doc_count":2,"key":"bolt"}],"doc_count_error_upper_bound":0,"sum_other_doc_count":2}`},
		{"terms by metric", `{"terms":{"field":"brand","order":{"p":"desc"},"size":1},"aggs":{"p":{"avg":{"field":"price"}}}}`, `{"buckets":[{"doc_count":2,"key":"acme","p":{"value":55.2}}],"doc_count_error_upper_bound":0,"sum_other_doc_count":3}`},
		{"terms of many values", `{"terms":{"field":"tags.keyword","min_doc_count":2}}`, `{"buckets":[{"doc_count":2,"key":"a"},{"doc_count":2,"key":"b"}],"doc_count_error_upper_bound":0,"sum_other_doc_count":0}`},
		{"terms bool", `{"terms":{"field":"live"}}`, `{"buckets":[{"doc_count":3,"key":1,"key_as_string":"true"},{"doc_count":2,"key":0,"key_as_string":"false"}],"doc_count_error_upper_bound":0,"sum_other_doc_count":0}`},
		{"terms unmapped", `{"terms":{"field":"nothing"}}`, `{"buckets":[],"doc_count_error_upper_bound":0,"sum_other_doc_count":0}`},
		{"month", `{"date_histogram":{"field":"sold","calendar_interval":"month","format":"yyyy-MM"}}`, `{"buckets":[{"doc_count":2,"key":1704067200000,"key_as_string":"2024-01"},{"doc_count":1,"key":1706745600000,"key_as_string":"2024-02"},{"doc_count":1,"key":1709251200000,"key_as_string":"2024-03"}]}`},
		{"thirty days", `{"date_histogram":{"field":"sold","fixed_interval":"30d"}}`, `{"buckets":[{"doc_count":1,"key":1702944000000,"key_as_string":"2023-12-19T00:00:00.000Z"},{"doc_count":2,"key":1705536000000,"key_as_string":"2024-01-18T00:00:00.000Z"},{"doc_count":1,"key":1708128000000,"key_as_string":"2024-02-17T00:00:00.000Z"}]}`},
		{"day in a zone", `{"date_histogram":{"field":"sold","calendar_interval":"day","time_zone":"+02:00","min_doc_count":1}}`, `{"buckets":[{"doc_count":1,"key":1704405600000,"key_as_string":"2024-01-05T00:00:00.000+02:00"},{"doc_count":1,"key":1705701600000,"key_as_string":"2024-01-20T00:00:00.000+02:00"},{"doc_count":1,"key":1707602400000,"key_as_string":"2024-02-11T00:00:00.000+02:00"},{"doc_count":1,"key":1710453600000,"key_as_string":"2024-03-15T00:00:00.000+02:00"}]}`},
		{"histogram", `{"histogram":{"field":"price","interval":10},"aggs":{"n":{"value_count":{"field":"stock"}}}}`, `{"buckets":[{"doc_count":1,"key":0,"n":{"value":1}},{"doc_count":1,"key":10,"n":{"value":1}},{"doc_count":2,"key":20,"n":{"value":1}},` + gaps + `{"doc_count":1,"key":90,"n":{"value":1}}]}`},
		{"range", `{"range":{"field":"price","ranges":[{"from":20,"key":"dear"},{"to":20}]}}`, `{"buckets":[{"doc_count":2,"key":"*-20.0","to":20},{"doc_count":3,"from":20,"key":"dear"}]}`},
		{"filter", `{"filter":{"term":{"live":true}},"aggs":{"s":{"sum":{"field":"stock"}}}}`, `{"doc_count":3,"s":{"value":110}}`},
		{"filters", `{"filters":{"filters":{"x":{"match":{"title":"red"}},"y":{"term":{"live":false}}}}}`, `{"buckets":{"x":{"doc_count":3},"y":{"doc_count":2}}}`},
		{"filters unnamed", `{"filters":{"filters":[{"match_all":{}}]}}`, `{"buckets":[{"doc_count":5}]}`},
		{"missing", `{"missing":{"field":"stock"}}`, `{"doc_count":1}`},
		{"min", `{"min":{"field":"price"}}`, `{"value":5}`},
		{"max date", `{"max":{"field":"sold"}}`, `{"value":1710500400000,"value_as_string":"2024-03-15T11:00:00.000Z"}`},
		{"avg of none", `{"avg":{"field":"nothing"}}`, `{"value":null}`},
		{"stats", `{"stats":{"field":"stock"}}`, `{"avg":27.5,"count":4,"max":100,"min":0,"sum":110}`},
		{"cardinality", `{"cardinality":{"field":"price"}}`, `{"value":4}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := must(t, e, 200, "POST /shop/_search", `{"size":0,"aggs":{"it":`+tc.agg+`}}`)
			if got := text1(out, "aggregations.it"); got != tc.want {
				t.Errorf("%s\n got %s\nwant %s", tc.agg, got, tc.want)
			}
		})
	}
}

const gaps = `{"doc_count":0,"key":30,"n":{"value":0}},{"doc_count":0,"key":40,"n":{"value":0}},{"doc_count":0,"key":50,"n":{"value":0}},{"doc_count":0,"key":60,"n":{"value":0}},{"doc_count":0,"key":70,"n":{"value":0}},{"doc_count":0,"key":80,"n":{"value":0}},`

func TestAggregationsOverIndices(t *testing.T) {
	e := shop(t, Options{})
	must(t, e, 201, "PUT /other/_doc/1", `{"n":2}`)
	must(t, e, 201, "PUT /shop2/_doc/1", `{"stock":7}`)
	run(t, e, []step{
		{
			"POST /_search", `{"size":0,"query":{"match_all":{}},"aggs":{"k":{"terms":{"field":"stock"},"aggs":{"live":{"terms":{"field":"live"}}}}}}`, 200,
			[]string{`aggregations.k.buckets.0={"doc_count":2,"key":7,"live":{"buckets":[{"doc_count":1,"key":1,"key_as_string":"true"}],"doc_count_error_upper_bound":0,"sum_other_doc_count":0}}`, `aggregations.k.buckets.3.key=100`},
		},
		{
			"POST /shop/_search?typed_keys=true", `{"size":0,"aggs":{"a":{"terms":{"field":"brand"}},"b":{"terms":{"field":"stock"}},"c":{"max":{"field":"price"}}}}`, 200,
			[]string{`aggregations.sterms#a.buckets.0.key="acme"`, `aggregations.lterms#b.buckets.0.doc_count=1`, `aggregations.max#c.value=99.9`},
		},
	})
}

func TestTooManyBuckets(t *testing.T) {
	e := newEngine(t, Options{})
	must(t, e, 201, "PUT /i/_doc/1", `{"d":"1970-01-01","n":0}`)
	must(t, e, 201, "PUT /i/_doc/2", `{"d":"2024-01-01","n":1e12}`)
	for _, agg := range []string{`{"date_histogram":{"field":"d","fixed_interval":"1s"}}`, `{"histogram":{"field":"n","interval":1}}`} {
		out := must(t, e, 400, "POST /i/_search", `{"aggs":{"a":`+agg+`}}`)
		if text1(out, "error.type") != `"too_many_buckets_exception"` {
			t.Error(out)
		}
	}
}
