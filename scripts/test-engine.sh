#!/usr/bin/env bash
# Whole runs on real OpenSearch and Elasticsearch nodes: capture, replay, report, the official clients, elasticdump, and a race of esrally.
#
# Needs a JDK (17; newer engines join where a newer one is found) and Maven. The clients' part needs python3 with venv, and
# node with npm. What is absent is skipped with a line that says so; with ESSHADOW_REQUIRE_ALL=1 it is a failure.
# Everything fetched lies in .engines, or where ESSHADOW_ENGINES_DIR says. Traffic goes to 127.0.0.1 alone.
# ESSHADOW_TEST_ENGINES="opensearch-2 …" takes only these engines, for work on one of them. Arguments are passed to go test.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
cache=${ESSHADOW_ENGINES_DIR:-$root/.engines}
mkdir -p "$cache" && cache=$(cd "$cache" && pwd)
export ESSHADOW_ENGINES_DIR=$cache
required=${ESSHADOW_REQUIRE_ALL:-0}

# lacking WHAT WHY: the line for what cannot be run, and the end where nothing may be left out.
lacking() {
  if [ "$required" = 1 ]; then
    echo "test-engine: FAILED: $1 is required by ESSHADOW_REQUIRE_ALL=1, but $2" >&2
    exit 1
  fi
  echo "test-engine: skipped: $1: $2"
}

engines() {
  command -v mvn >/dev/null || { lacking "everything" "there is no Maven (mvn) to fetch the engines with"; exit 0; }
  names=$("$here/engine.sh" names)
  [ -n "$names" ] || { lacking "everything" "no Java of version 17 or later was found"; exit 0; }
  command -v javac >/dev/null || ls /usr/lib/jvm/*/bin/javac >/dev/null 2>&1 || [ -x "${JAVA_HOME:-}/bin/javac" ] ||
    { lacking "everything" "there is a Java runtime, but no JDK (javac), which the engines' start needs"; exit 0; }
  names=${ESSHADOW_TEST_ENGINES:-$names}
  local n
  for n in $names; do
    "$here/engine.sh" fetch "$n"
  done
  for n in opensearch-3 elasticsearch-9; do
    grep -qw -- "$n" <<<"$names" || echo "test-engine: without $n (it needs a newer Java than those found, or was not asked for)"
  done
  export ESSHADOW_TEST_ENGINES=$names
}

# venv NAME makes the virtual environment of requirements-NAME.txt and prints its python. It is made anew when the file changes.
venv() {
  local dir=$cache/python-$1 want=$here/clients/requirements-$1.txt
  if ! cmp -s "$want" "$dir/made-from.txt"; then
    rm -rf "$dir"
    python3 -m venv "$dir"
    "$dir/bin/pip" install --quiet --disable-pip-version-check -r "$want" >&2
    cp "$want" "$dir/made-from.txt"
  fi
  echo "$dir/bin/python"
}

python_clients() {
  if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    lacking "the Python clients and esrally" "there is no python3 with venv (Debian: python3-venv)"
    return
  fi
  ESSHADOW_TEST_PYTHON=$(venv clients)
  export ESSHADOW_TEST_PYTHON
  ESSHADOW_TEST_RALLY=$(venv rally)
  export ESSHADOW_TEST_RALLY
}

javascript_client() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    lacking "the JavaScript client and elasticdump" "there is no node with npm"
    return
  fi
  local dir=$cache/node
  if ! cmp -s "$here/clients/package-lock.json" "$dir/made-from.json"; then
    rm -rf "$dir" && mkdir -p "$dir"
    cp "$here/clients/package.json" "$here/clients/package-lock.json" "$dir/"
    (cd "$dir" && npm ci --silent --no-audit --no-fund >&2)
    cp "$dir/package-lock.json" "$dir/made-from.json"
  fi
  export ESSHADOW_TEST_NODE=$dir
}

# esql_parser fetches Elasticsearch's parser of ES|QL, which what the sanitiser writes is read by.
esql_parser() {
  if "$here/engine.sh" fetch esql-parser; then
    export ESSHADOW_TEST_ESQL=$here/engine.sh
  else
    lacking "the check by Elasticsearch's ES|QL parser" "it could not be fetched"
  fi
}

engines
esql_parser
python_clients
javascript_client
export ESSHADOW_BIN=${ESSHADOW_BIN:-$root/bin/esshadow}
[ -x "$ESSHADOW_BIN" ] || { echo "test-engine: there is no $ESSHADOW_BIN: run make build" >&2; exit 1; }
cd "$root"
exec "${GO:-go}" test -v -tags engine -count=1 -timeout 30m -run TestEngine "$@" ./sanitize ./cmd/esshadow
