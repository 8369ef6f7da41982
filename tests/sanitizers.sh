#!/usr/bin/env bash
# Builds the program and its tests with clang's address, leak and undefined-behavior sanitizers, and runs all tests.
# Warnings of clang are errors. The fuzz targets of tests/fuzz/run.py are built in the same folder. Needs clang,
# libclang-rt-dev, libbenchmark-dev and ninja-build.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build-sanitized}
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DATTN_TESTS=ON -DATTN_BENCHMARKS=ON \
  -DATTN_WERROR=ON -DATTN_SANITIZE=ON -DATTN_FUZZ=ON >/dev/null
cmake --build "$build"

# Many tests run the program as a process and do not look at all that it says. So every process writes its reports
# into files of one folder, which must stay empty.
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
export ASAN_OPTIONS="log_path=$reports/report:exitcode=99:detect_stack_use_after_return=1:strict_string_checks=1"
export UBSAN_OPTIONS="log_path=$reports/report:exitcode=99:print_stacktrace=1"
failed=0
ctest --test-dir "$build" -j 2 --output-on-failure || failed=1
for report in "$reports"/*; do
  [ -e "$report" ] || continue
  echo "== a report of a sanitizer"
  cat "$report"
  failed=1
done
exit "$failed"
