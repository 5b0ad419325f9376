// One session of the official JavaScript client against one URL, every answer written down: the same as session.py.
//
//   session.mjs URL INDEX [--gzip]
import { Client, HttpConnection } from '@elastic/elasticsearch'

const [url, index, ...flags] = process.argv.slice(2)
const gzip = flags.includes('--gzip')
const docs = 400
const order = [{ _score: 'desc' }, { seq: 'asc' }]

// Recording prints every answer, its bytes as they came, before the client reads it.
class Recording extends HttpConnection {
  async request (params, options) {
    const answer = await super.request(params, options)
    console.log(JSON.stringify({
      method: params.method,
      target: params.path + (params.querystring ? '?' + params.querystring : ''),
      status: answer.statusCode,
      headers: Object.fromEntries(Object.entries(answer.headers).sort()),
      body: Buffer.from(answer.body).toString('base64')
    }))
    return answer
  }
}

function check (what, got, want) {
  if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
}

const words = ['amber', 'birch', 'cedar', 'delta', 'ember']
const doc = i => ({
  seq: i,
  title: words.filter((_, n) => (i >> n) & 1).join(' ') || 'none',
  group: `group-${i % 7}`,
  price: i * 1.25,
  at: new Date(Date.UTC(2026, 0, 1 + i % 28, i % 24)).toISOString()
})

const c = new Client({ node: url, Connection: Recording, compression: gzip, maxRetries: 0 })

await c.indices.create({
  index,
  settings: { number_of_shards: 1, number_of_replicas: 0, refresh_interval: -1 },
  mappings: {
    properties: {
      seq: { type: 'integer' }, title: { type: 'text' }, group: { type: 'keyword' }, price: { type: 'double' }, at: { type: 'date' }
    }
  }
})
check('index', (await c.index({ index, id: '0', document: doc(0) })).result, 'created')
const loaded = await c.helpers.bulk({
  datasource: Array.from({ length: docs - 1 }, (_, i) => doc(i + 1)),
  onDocument: d => ({ index: { _index: index, _id: String(d.seq) } }),
  flushBytes: 20000,
  concurrency: 1
})
check('bulk', [loaded.successful, loaded.failed], [docs - 1, 0])
await c.indices.refresh({ index })
check('update', (await c.update({ index, id: '3', doc: { price: 1.5 } })).result, 'updated')
check('delete', (await c.delete({ index, id: '4' })).result, 'deleted')
await c.indices.refresh({ index })

check('count', (await c.count({ index })).count, docs - 1)
check('get', (await c.get({ index, id: '3' }))._source.price, 1.5)
check('exists', await c.exists({ index, id: '4' }), false)
const match = await c.search({ index, query: { match: { title: 'cedar' } }, sort: order, size: 20 })
check('match', match.hits.hits.length, 20)
const bool = await c.search({
  index,
  query: { bool: { filter: [{ term: { group: 'group-2' } }, { range: { price: { gte: 50, lt: 400 } } }] } },
  sort: [{ at: 'desc' }, { seq: 'asc' }],
  aggs: {
    groups: { terms: { field: 'group' }, aggs: { mean: { avg: { field: 'price' } } } },
    days: { date_histogram: { field: 'at', calendar_interval: 'week' } }
  },
  track_total_hits: true
})
check('bool', bool.hits.total.value, Array.from({ length: docs }, (_, i) => i).filter(i => i % 7 === 2 && i * 1.25 >= 50 && i * 1.25 < 400).length)
const many = await c.msearch({
  searches: ['amber', 'delta', 'nothing'].flatMap(w => [{ index }, { query: { match: { title: w } }, sort: order, size: 3 }])
})
check('msearch', many.responses.map(r => r.status), [200, 200, 200])
const got = await c.mget({ index, ids: ['1', '4', '9'] })
check('mget', got.docs.map(d => d.found), [true, false, true])

let scanned = 0
for await (const page of c.helpers.scrollSearch({ index, size: 90, query: { range: { seq: { gte: 10 } } }, sort: ['_doc'] })) {
  scanned += page.body.hits.hits.length
}
check('scroll', scanned, docs - 10)
let pit = (await c.openPointInTime({ index, keep_alive: '1m' })).id
let seen = 0
for (let after; ;) {
  const page = await c.search({ size: 150, sort: [{ seq: 'asc' }], pit: { id: pit, keep_alive: '1m' }, ...(after && { search_after: after }) })
  pit = page.pit_id
  if (page.hits.hits.length === 0) break
  seen += page.hits.hits.length
  after = page.hits.hits.at(-1).sort
}
check('pit', seen, docs - 1)
await c.closePointInTime({ id: pit })

for (const call of [
  () => c.get({ index, id: 'none' }),
  () => c.search({ index, query: { no_such_query: {} } }),
  () => c.search({ index: index + '-absent', query: { match_all: {} } })
]) {
  const error = await call().then(() => null, e => e)
  if (error?.name !== 'ResponseError') throw new Error(`an error of the engine was not raised: ${error}`)
}
await c.indices.delete({ index })
await c.close()
