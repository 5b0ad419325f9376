#!/usr/bin/env bash
# Benchmarks of the packages, of sanitising, of the proxy beside nginx and others,
# and of the replayer, in one run of about nine minutes. Arguments go to
# scripts/bench; -h lists them.
# docs/benchmarks.md says what each figure means.
set -euo pipefail
cd "$(dirname "$0")/.."
go build -o bin/bench ./scripts/bench
# exec: who ends this script ends the program, which ends its children.
exec bin/bench "$@"
