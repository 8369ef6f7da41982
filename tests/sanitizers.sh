#!/usr/bin/env bash
# Builds the program with clang's address, leak and undefined-behavior sanitizers, and runs the tests against it.
# Warnings of clang are errors. The fuzz targets of tests/fuzz/run.py are built in the same folder. Needs clang,
# libclang-rt-dev and ninja-build.
#
# usage: [ATTN_SAMPLE=K/N] tests/sanitizers.sh [FOLDER [BUILD]]
#   Links the tests that were compiled in BUILD, the folder of an ordinary build with tests.
#   With K/N, all files of tests run that include nothing that starts processes, and of the others one in N, from the one
#   after K on: they start thousands of processes, which are much slower here. Those of tests/about are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build-sanitized}
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DATTN_TESTS=ON -DATTN_TESTS_OF="$(realpath "${2:-build}")" \
  -DATTN_WERROR=ON -DATTN_SANITIZE=ON -DATTN_FUZZ=ON >/dev/null
cmake --build "$build"

# Many tests run the program as a process and do not look at all that it says. So every process writes its reports
# into files of one folder, which must stay empty.
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
export ASAN_OPTIONS="log_path=$reports/report:exitcode=99:detect_stack_use_after_return=1:strict_string_checks=1"
export UBSAN_OPTIONS="log_path=$reports/report:exitcode=99:print_stacktrace=1"
failed=0
if [ -z "${ATTN_SAMPLE:-}" ]; then
  ctest --test-dir "$build" -j 2 --output-on-failure || failed=1
else
  staying=$(grep -LE '"(process|commands_tried|running_text|terminals|questions_asked|golden)\.hpp"' tests/*_test.cpp |
    xargs -n 1 basename -s .cpp)
  numbers=$(ctest --test-dir "$build" -N -LE '^about$' | sed -n 's/^ *Test *#\([0-9]*\): /\1 /p' |
    awk -v part="${ATTN_SAMPLE%/*}" -v parts="${ATTN_SAMPLE#*/}" '
      NR == FNR { stays[$0]; next }
      { number = $1; sub(/^[0-9]+ /, ""); if ($0 in stays || others++ % parts == part) print number }' \
      <(echo "$staying") - | paste -sd,)
  ctest --test-dir "$build" -j 2 --output-on-failure -I "${numbers%%,*},${numbers%%,*},1,$numbers" || failed=1
fi
for report in "$reports"/*; do
  [ -e "$report" ] || continue
  echo "== a report of a sanitizer"
  cat "$report"
  failed=1
done
exit "$failed"
