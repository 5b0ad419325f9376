"""Writes the documents of the track, each after its action, to standard output: documents.py COUNT.

The actions name the ids: those that an engine makes up would be others in a replay.
"""

import json
import sys

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove")
for i in range(int(sys.argv[1])):
    doc = {
        "seq": i,
        "title": " ".join(w for n, w in enumerate(WORDS) if (i >> n) & 1) or "none",
        "group": f"group-{i % 11}",
        "price": i * 1.25,
        "at": f"2026-01-{1 + i % 28:02d}T{i % 24:02d}:00:00Z",
    }
    print(json.dumps({"index": {"_index": "esx-rally", "_id": f"race-{i}"}}))
    print(json.dumps(doc))
