#!/usr/bin/env bash
# Real search engines for tests, made of jars published on Maven Central.
#
#   scripts/engine.sh fetch NAME          download the jars (once) into $ESSHADOW_ENGINES_DIR
#   scripts/engine.sh run NAME PORT       run one node on 127.0.0.1:PORT until it is told to stop
#   scripts/engine.sh parse esql-parser   read ES|QL from standard input, see scripts/engine/esql-parser/Parse.java
#   scripts/engine.sh names               the engines that the Java versions found here can run
#
# NAME: opensearch-2 elasticsearch-7 elasticsearch-8 (Java 17 or later), opensearch-3 (21), elasticsearch-9 (21, not fetched below 25).
# Nodes keep their data in a new folder under the system's temporary folder and remove it at the end.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${ESSHADOW_ENGINES_DIR:-$here/../.engines}
mkdir -p "$cache" && cache=$(cd "$cache" && pwd)

# java_at_least N prints the first java of version N or later.
java_at_least() {
  local j v
  for j in "${JAVA_HOME:-/nonexistent}/bin/java" "$(command -v java || true)" /usr/lib/jvm/*/bin/java; do
    [ -x "$j" ] || continue
    v=$("$j" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -1)
    if [ -n "$v" ] && [ "$v" -ge "$1" ]; then echo "$j"; return; fi
  done
  return 1
}

need() { # the Java version that an engine needs
  case $1 in
    opensearch-2 | elasticsearch-7 | elasticsearch-8 | esql-parser) echo 17 ;;
    opensearch-3) echo 21 ;;
    elasticsearch-9) echo 25 ;;
    *) echo "engine.sh: unknown engine '$1'" >&2; exit 2 ;;
  esac
}

names() {
  local n
  for n in opensearch-2 elasticsearch-7 elasticsearch-8 opensearch-3 elasticsearch-9; do
    if java_at_least "$(need "$n")" >/dev/null; then echo "$n"; fi
  done
}

fetch() {
  local dir=$cache/$1
  [ -e "$dir/complete" ] && return
  need "$1" >/dev/null
  rm -rf "$dir" && mkdir -p "$dir/lib"
  mvn -q -B -f "$here/engine/pom.xml" -P "$1" dependency:copy-dependencies -DoutputDirectory="$dir/lib"
  case $1 in elasticsearch-[89]) split_modules "$dir" "${1#elasticsearch-}" ;; esac
  touch "$dir/complete"
}

# split_modules sorts the jars as Elasticsearch 8 and later expect them: the
# server on the module path, the transport as a bundle of its own.
split_modules() {
  local dir=$1 bundle=$1/transport-netty4 jar
  mkdir -p "$bundle"
  mv "$dir"/lib/netty-*.jar "$dir"/lib/transport-netty4-*.jar "$bundle/"
  jar=$(echo "$bundle"/transport-netty4-*.jar)
  local x=META-INF/es-plugins/transport-netty4
  if (cd "$dir" && "$(dirname "$(java_at_least 17)")/jar" xf "$jar" $x && mv $x/* "$bundle/" && rm -rf META-INF) 2>/dev/null; then
    return
  else
    # 9.0.4 carries no descriptor: the one of 8.19 with its own version does.
    fetch elasticsearch-8
    cp "$cache"/elasticsearch-8/transport-netty4/{plugin-descriptor.properties,entitlement-policy.yaml} "$bundle/"
    local v; v=$(basename "$jar" .jar); v=${v#transport-netty4-}
    sed -i "s/^version=.*/version=$v/; s/^elasticsearch.version=.*/elasticsearch.version=$v/" "$bundle/plugin-descriptor.properties"
  fi
}

run() {
  local name=$1 port=$2 java dir=$cache/$1
  java=$(java_at_least "$(need "$name")") || { echo "engine.sh: $name needs Java $(need "$name") or later" >&2; exit 1; }
  fetch "$name"
  home=$(mktemp -d "${TMPDIR:-/tmp}/esshadow-engine.XXXXXX")
  trap 'rm -rf "$home"' EXIT
  mkdir -p "$home"/{config,plugins,lib,modules,data}
  local src=$here/engine/$name/Engine.java args=(-Xms512m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1)
  case $name in
    elasticsearch-[89])
      ln -s "$dir/transport-netty4" "$home/modules/transport-netty4"
      src=$here/engine/elasticsearch-8/Engine.java
      args+=(-p "$dir/lib" --add-modules ALL-MODULE-PATH -Des.distribution.type=tar) ;;
    *) args+=(-cp "$dir/lib/*") ;;
  esac
  "$java" "${args[@]}" "$src" "$home" "$port" "$name" &
  pid=$! # global, as is home: the EXIT trap runs outside of this function
  trap 'kill $pid 2>/dev/null || true; wait $pid 2>/dev/null || true; rm -rf "$home"' EXIT
  trap 'exit 143' TERM INT
  wait $pid
}

parse() {
  local java dir=$cache/$1
  java=$(java_at_least "$(need "$1")") || { echo "engine.sh: $1 needs Java $(need "$1") or later" >&2; exit 1; }
  fetch "$1" >&2
  exec "$java" -XX:TieredStopAtLevel=1 -cp "$dir/lib/*" "$here/engine/$1/Parse.java"
}

case ${1:-} in
  names) names ;;
  parse) parse "$2" ;;
  fetch) fetch "$2" ;;
  run) run "$2" "$3" ;;
  *) sed -n '2,10p' "$0" | sed 's/^# \{0,1\}//'; exit 2 ;;
esac
