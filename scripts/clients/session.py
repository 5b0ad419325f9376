"""One session of an official Python client against one URL, every answer written down.

    session.py elasticsearch|opensearch URL INDEX [--gzip]

Prints one JSON line an answer, in order: method, target, status, the headers that a client can see and the body's bytes
in base64, exactly as they came. Two sessions, one direct and one through a proxy, must print the same lines but for
what differs from one call to the next (took, scroll and point in time ids). A wrong answer ends the session with an
error: the client has to understand what it gets.
"""

import argparse
import base64
import json
import sys

DOCS = 400
SETTINGS = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": -1}
MAPPINGS = {
    "properties": {
        "seq": {"type": "integer"},
        "title": {"type": "text"},
        "group": {"type": "keyword"},
        "price": {"type": "double"},
        "at": {"type": "date"},
    }
}
ORDER = [{"_score": "desc"}, {"seq": "asc"}]


def record(pool):
    """Makes a urllib3 pool print every answer before the client sees it."""
    urlopen = pool.urlopen

    def wrapped(method, target, *args, **kw):
        answer = urlopen(method, target, *args, **kw)
        line = {
            "method": method,
            "target": target,
            "status": answer.status,
            "headers": {k.lower(): v for k, v in answer.headers.items()},
            "body": base64.b64encode(answer.data).decode(),
        }
        print(json.dumps(line, sort_keys=True))
        return answer

    pool.urlopen = wrapped


def elasticsearch_client(url, gzip):
    import elasticsearch
    from elastic_transport import Urllib3HttpNode
    from elasticsearch import helpers

    class Node(Urllib3HttpNode):
        def __init__(self, config):
            super().__init__(config)
            record(self.pool)

    return elasticsearch.Elasticsearch(url, node_class=Node, http_compress=gzip, max_retries=0), helpers


def opensearch_client(url, gzip):
    import opensearchpy
    from opensearchpy import Urllib3HttpConnection, helpers

    class Connection(Urllib3HttpConnection):
        def __init__(self, *args, **kw):
            super().__init__(*args, **kw)
            record(self.pool)

    return opensearchpy.OpenSearch(url, connection_class=Connection, http_compress=gzip, max_retries=0), helpers


def doc(i):
    return {
        "seq": i,
        "title": " ".join(w for n, w in enumerate(("amber", "birch", "cedar", "delta", "ember")) if (i >> n) & 1) or "none",
        "group": f"group-{i % 7}",
        "price": i * 1.25,
        "at": f"2026-01-{1 + i % 28:02d}T{i % 24:02d}:00:00Z",
    }


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: got {got!r}, want {want!r}")


def wrap(body):
    """An options object for both clients: the body as it is."""
    return {"body": body}


def write(c, helpers, index):
    c.indices.create(index=index, **wrap({"settings": SETTINGS, "mappings": MAPPINGS}))
    check("index", c.index(index=index, id="0", **wrap(doc(0)))["result"], "created")
    actions = ({"_op_type": "index", "_index": index, "_id": str(i), "_source": doc(i)} for i in range(1, DOCS))
    check("bulk", helpers.bulk(c, actions, chunk_size=100), (DOCS - 1, []))
    stream = helpers.streaming_bulk(c, [{"_op_type": "create", "_index": index, "_id": "5", "_source": doc(5)}], raise_on_error=False)
    check("conflict", [(ok, item["create"]["status"]) for ok, item in stream], [(False, 409)])
    c.indices.refresh(index=index)
    check("update", c.update(index=index, id="3", **wrap({"doc": {"price": 1.5}}))["result"], "updated")
    check("delete", c.delete(index=index, id="4")["result"], "deleted")
    c.indices.refresh(index=index)


def read(c, index):
    check("count", c.count(index=index)["count"], DOCS - 1)
    check("get", c.get(index=index, id="3")["_source"]["price"], 1.5)
    check("exists", bool(c.exists(index=index, id="4")), False)
    found = c.search(index=index, **wrap({"query": {"match": {"title": "cedar"}}, "sort": ORDER, "size": 20}))
    check("match", len(found["hits"]["hits"]), 20)
    found = c.search(
        index=index,
        **wrap(
            {
                "query": {"bool": {"filter": [{"term": {"group": "group-2"}}, {"range": {"price": {"gte": 50, "lt": 400}}}]}},
                "sort": [{"at": "desc"}, {"seq": "asc"}],
                "aggs": {
                    "groups": {"terms": {"field": "group"}, "aggs": {"mean": {"avg": {"field": "price"}}}},
                    "days": {"date_histogram": {"field": "at", "calendar_interval": "week"}},
                },
                "track_total_hits": True,
            }
        ),
    )
    check("bool", found["hits"]["total"]["value"], sum(1 for i in range(DOCS) if i % 7 == 2 and 50 <= i * 1.25 < 400))
    lines = []
    for word in ("amber", "delta", "nothing"):
        lines += [{"index": index}, {"query": {"match": {"title": word}}, "sort": ORDER, "size": 3}]
    many = c.msearch(**wrap(lines))["responses"]
    check("msearch", [r["status"] for r in many], [200, 200, 200])
    check("mget", [d["found"] for d in c.mget(index=index, **wrap({"ids": ["1", "4", "9"]}))["docs"]], [True, False, True])


def walk(c, helpers, index, open_pit, close_pit):
    query = {"query": {"range": {"seq": {"gte": 10}}}}
    ids = [h["_id"] for h in helpers.scan(c, index=index, query=query, size=90)]
    check("scan", len(ids), DOCS - 10)
    pit, seen, after = open_pit(), 0, None
    while True:
        body = {"size": 150, "sort": [{"seq": "asc"}], "pit": {"id": pit, "keep_alive": "1m"}}
        if after:
            body["search_after"] = after
        page = c.search(**wrap(body))
        pit, hits = page["pit_id"], page["hits"]["hits"]
        if not hits:
            break
        seen, after = seen + len(hits), hits[-1]["sort"]
    check("pit", seen, DOCS - 1)
    close_pit(pit)


def wrong(c, index, error):
    for call in (
        lambda: c.get(index=index, id="none"),
        lambda: c.search(index=index, **wrap({"query": {"no_such_query": {}}})),
        lambda: c.search(index=index + "-absent", **wrap({"query": {"match_all": {}}})),
    ):
        try:
            call()
        except error:
            continue
        sys.exit("an error of the engine was not raised")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("kind", choices=["elasticsearch", "opensearch"])
    p.add_argument("url")
    p.add_argument("index")
    p.add_argument("--gzip", action="store_true")
    a = p.parse_args()
    if a.kind == "elasticsearch":
        import elasticsearch

        c, helpers = elasticsearch_client(a.url, a.gzip)
        error = elasticsearch.ApiError
        open_pit = lambda: c.open_point_in_time(index=a.index, keep_alive="1m")["id"]
        close_pit = lambda pit: c.close_point_in_time(id=pit)
    else:
        import opensearchpy

        c, helpers = opensearch_client(a.url, a.gzip)
        error = opensearchpy.TransportError
        open_pit = lambda: c.create_pit(index=a.index, params={"keep_alive": "1m"})["pit_id"]
        close_pit = lambda pit: c.delete_pit(body={"pit_id": [pit]})
    write(c, helpers, a.index)
    read(c, a.index)
    walk(c, helpers, a.index, open_pit, close_pit)
    wrong(c, a.index, error)
    c.indices.delete(index=a.index)


main()
