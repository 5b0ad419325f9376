package sanitize

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/esshadow/esshadow/capture"
)

// bulkCorpus writes documents such as log shippers and shops send, always the
// same for one seed. Words come by Zipf's law from a vocabulary of a natural
// size, so that few are frequent and most are rare: what a token cache holds of
// them is then what it would hold in life.
type bulkCorpus struct {
	r     *rand.Rand
	words []string
	zipf  *rand.Zipf
	out   []byte
	now   time.Time
	docs  int
	shop  bool // the request at hand is a shop's
}

// vocabularySize is about that of 100 MB of English text, see Heaps' law.
const vocabularySize = 80_000

func newBulkCorpus() *bulkCorpus {
	r := rand.New(rand.NewPCG(17, 4))
	c := &bulkCorpus{r: r, words: make([]string, vocabularySize), now: time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)}
	syllables := strings.Fields("a be con de ex fi ga he in jo ka lo mi ne or per qua re si ta un ver wi ing tion ment er ly st nd al ous ter pro com ple")
	for i := range c.words {
		var w string
		// Frequent words are short.
		for range 1 + min(i/200, 1) + r.IntN(3) {
			w += syllables[r.IntN(len(syllables))]
		}
		c.words[i] = w
	}
	c.zipf = rand.NewZipf(r, 1.1, 2.7, vocabularySize-1)
	return c
}

// bulkRequests are _bulk requests of about size bytes each, total in all, with
// the number of documents in them. They alternate between logs and products.
func bulkRequests(total, size int) (xs []*capture.Exchange, docs int) {
	c := newBulkCorpus()
	for done := 0; done < total; {
		c.out = c.out[:0]
		for len(c.out) < size {
			c.document()
		}
		done += len(c.out)
		xs = append(xs, exchange("POST", "/_bulk", string(c.out), "Content-Type", "application/x-ndjson"))
		c.shop = !c.shop
	}
	return xs, c.docs
}

func (c *bulkCorpus) document() {
	c.docs++
	if c.shop {
		c.product()
		return
	}
	c.log()
}

func (c *bulkCorpus) text(s ...string) {
	for _, s := range s {
		c.out = append(c.out, s...)
	}
}

func (c *bulkCorpus) int(n int) { c.out = strconv.AppendInt(c.out, int64(n), 10) }

func (c *bulkCorpus) float(limit float64, digits int) {
	c.out = strconv.AppendFloat(c.out, c.r.Float64()*limit, 'f', digits, 64)
}

func (c *bulkCorpus) hex(digits int) {
	for range digits {
		c.out = append(c.out, "0123456789abcdef"[c.r.IntN(16)])
	}
}

func (c *bulkCorpus) word() string { return c.words[c.zipf.Uint64()] }

func (c *bulkCorpus) sentence(from, to int) {
	for i := range from + c.r.IntN(to-from) {
		if i > 0 {
			c.out = append(c.out, ' ')
		}
		c.text(c.word())
	}
}

func (c *bulkCorpus) pick(of ...string) { c.text(of[c.r.IntN(len(of))]) }

func (c *bulkCorpus) ip() {
	c.text("10.")
	c.int(c.r.IntN(4))
	c.text(".")
	c.int(c.r.IntN(256))
	c.text(".")
	c.int(c.r.IntN(256))
}

func (c *bulkCorpus) log() {
	c.now = c.now.Add(time.Duration(c.r.IntN(40)) * time.Millisecond)
	c.text(`{"create":{"_index":"logs-app-`, c.now.Format("2006.01.02"), `"}}`, "\n")
	c.text(`{"@timestamp":"`, c.now.Format("2006-01-02T15:04:05.000Z"), `","log":{"level":"`)
	c.pick("info", "info", "info", "warn", "error", "debug")
	c.text(`","logger":"com.example.`, c.word(), ".", c.word(), `"},"message":"`)
	c.sentence(6, 28)
	if c.r.IntN(4) == 0 {
		c.text(" user=u", strconv.Itoa(c.r.IntN(100_000)), " took ", strconv.Itoa(c.r.IntN(900)), `ms \"`, c.word(), `\" from `)
		c.ip()
	}
	user := strconv.Itoa(c.r.IntN(100_000))
	c.text(`","host":{"name":"web`, strconv.Itoa(c.r.IntN(60)), `.example.com","ip":["`)
	c.ip()
	c.text(`"]},"http":{"request":{"method":"`)
	c.pick("GET", "GET", "POST", "PUT")
	c.text(`","bytes":`)
	c.int(c.r.IntN(9000))
	c.text(`},"response":{"status_code":`)
	c.pick("200", "200", "200", "304", "404", "500")
	c.text(`,"bytes":`)
	c.int(c.r.IntN(90_000))
	c.text(`}},"url":{"path":"/`, c.word(), "/", c.word(), "/", strconv.Itoa(c.r.IntN(30_000)), `","query":"page=`)
	c.int(c.r.IntN(20))
	c.text(`"},"user":{"id":"u`, user, `","name":"`, c.word(), `","email":"`, c.word(), ".", user, `@example.com"},"trace":{"id":"`)
	c.hex(32)
	c.text(`"},"event":{"duration":`)
	c.int(c.r.IntN(900_000_000))
	c.text(`,"success":`)
	c.pick("true", "false")
	c.text(`},"geo":{"location":{"lat":`)
	c.float(90, 4)
	c.text(`,"lon":`)
	c.float(180, 4)
	c.text("}}}\n")
}

func (c *bulkCorpus) product() {
	sku := c.r.IntN(1_000_000)
	c.text(`{"index":{"_index":"products","_id":"sku-`, strconv.Itoa(sku), `"}}`, "\n")
	c.text(`{"sku":"sku-`, strconv.Itoa(sku), `","name":"`)
	c.sentence(2, 6)
	c.text(`","description":"`)
	c.sentence(25, 90)
	c.text(`","brand":"`, c.word(), `","price":`)
	c.float(500, 2)
	c.text(`,"currency":"`)
	c.pick("EUR", "USD", "GBP")
	c.text(`","stock":`)
	c.int(c.r.IntN(2000))
	c.text(`,"active":`)
	c.pick("true", "false")
	c.text(`,"rating":`)
	c.float(5, 1)
	c.text(`,"categories":["`, c.word(), `","`, c.word(), " ", c.word(), `"],"attributes":[`)
	for i := range 2 + c.r.IntN(4) {
		if i > 0 {
			c.text(",")
		}
		c.text(`{"name":"`)
		c.pick("colour", "size", "material", "weight", "origin")
		c.text(`","value":"`, c.word(), `"}`)
	}
	c.text(`],"seller":{"id":`)
	c.int(c.r.IntN(5000))
	c.text(`,"name":"`, c.word(), " ", c.word(), `","address":{"street":"`, c.word(), " ", strconv.Itoa(1+c.r.IntN(200)), `","city":"`, c.word(), `","zip":"`)
	c.int(10_000 + c.r.IntN(80_000))
	c.text(`"}},"ean":"`)
	c.int(4_000_000_000_000 + c.r.IntN(900_000_000_000))
	c.text(`","created":"`, c.now.Add(-time.Duration(c.r.IntN(1e6))*time.Minute).Format(time.RFC3339), `","updated":`)
	c.int(int(c.now.UnixMilli()) - c.r.IntN(1e9))
	c.text("}\n")
}

// The corpus is what it is said to be: requests of the size asked for, of JSON
// lines, the same each time, with words that repeat as they do in texts.
func TestBulkCorpus(t *testing.T) {
	const total, size = 4 << 20, 1 << 20
	xs, docs := bulkRequests(total, size)
	again, _ := bulkRequests(total, size)
	sum, lines := 0, 0
	words := map[string]int{}
	for i, x := range xs {
		if string(x.Body) != string(again[i].Body) {
			t.Fatalf("request %d is another the second time", i)
		}
		if n := len(x.Body); n < size || n > size+8<<10 {
			t.Errorf("request %d has %d bytes, want about %d", i, n, size)
		}
		sum += len(x.Body)
		for line := range strings.Lines(string(x.Body)) {
			lines++
			if !json.Valid([]byte(line)) {
				t.Fatalf("not JSON: %s", line)
			}
			for w := range strings.FieldsSeq(line) {
				words[w]++
			}
		}
	}
	once := 0
	for _, n := range words {
		if n == 1 {
			once++
		}
	}
	if sum < total || lines != 2*docs || len(words) < 10_000 || once*4 < len(words) {
		t.Errorf("%d bytes, %d lines of %d documents, %d words of which %d stand once", sum, lines, docs, len(words), once)
	}
}
