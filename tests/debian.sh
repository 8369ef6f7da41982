#!/usr/bin/env bash
# Builds everything against the packages of another release of Debian, with its g++ and its clang, without warnings,
# and runs all tests: tests/debian.sh trixie FOLDER, or sid. The release is unpacked into FOLDER, where the builds stay
# too. Runs as root and needs debootstrap. Where CCACHE_DIR is set, that cache of ccache is used.
set -euo pipefail
if [ $# -ne 2 ]; then
  echo "usage: tests/debian.sh SUITE FOLDER, for example: tests/debian.sh trixie /var/tmp/trixie" >&2
  exit 2
fi
# What is mounted below is mounted for this script alone, and gone with it.
if [ "${ATTN_MOUNTS:-}" != own ]; then
  ATTN_MOUNTS=own exec unshare --mount "$0" "$@"
fi
suite=$1
root=$(realpath -m "$2")
sources=$(realpath "$(dirname "$0")/..")

if [ ! -e "$root/etc/debian_version" ]; then
  debootstrap --variant=minbase "$suite" "$root" http://deb.debian.org/debian >/dev/null
fi
mkdir -p "$root/src" "$root/ccache"
mount --bind -o ro "$sources" "$root/src"
mount --bind "${CCACHE_DIR:-$root/ccache}" "$root/ccache"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"

inside() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    CCACHE_DIR=/ccache bash -euo pipefail -c "$1"
}

packages=$(sed -n "s/.*--no-install-recommends \(.*\)' && .*-DATTN_TESTS=ON.*/\1/p" "$sources/README.md")
echo "== $suite: packages"
# A mirror may be behind by some days.
inside "apt-get -o Acquire::Check-Valid-Until=false update &&
        apt-get install -y --no-install-recommends $packages clang ccache" >/dev/null
inside "apt-get install -y --no-install-recommends python3-numpy python3-torch" >/dev/null ||
  echo "PyTorch cannot be installed here: the tests that compare with it are skipped"
inside "dpkg-query -W -f '\${Package} \${Version}\n' g++ clang cmake $packages" | sort -u

for compiler in g++ clang++; do
  build="cmake -S /src -G Ninja -DATTN_TESTS=ON -DCMAKE_CXX_COMPILER=$compiler -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
  echo "== $suite: $compiler, as the README builds it"
  inside "CXXFLAGS=-Werror $build -B /build/$compiler-readme >/dev/null && cmake --build /build/$compiler-readme -- -k 0"
  echo "== $suite: $compiler, every header read anew"
  inside "$build -DATTN_WERROR=ON -DATTN_BATCHES=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -B /build/$compiler >/dev/null && cmake --build /build/$compiler -- -k 0"
  echo "== $suite: $compiler, the tests"
  inside "ctest --test-dir /build/$compiler -j 2 --output-on-failure"
done
