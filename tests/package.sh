#!/usr/bin/env bash
# The Debian package: it is built, lintian finds no error, and in a bare Debian 12 it installs, runs and leaves nothing
# behind when it is removed.
#
# usage: tests/package.sh BUILD [CACHE]    as root. CACHE keeps the bare Debian for the next time (default: a folder
# beside the package); the first time it is fetched by debootstrap.
set -euo pipefail
build=$(realpath "$1")
cache=$(realpath -m "${2:-$build/package/bookworm}")
mkdir -p "$build/package"
rm -f "$build"/package/*.deb
(cd "$build" && cpack -G DEB -B "$build/package" >/dev/null)
deb=$(ls "$build"/package/*.deb)
dpkg-deb --info "$deb" | sed -n '/Package:/,$p'
echo "$(stat -c %s "$deb") bytes"

echo "-- lintian"
lintian --allow-root --fail-on error --display-info "$deb"

echo "-- a bare Debian 12"
if [ ! -e "$cache.done" ]; then
  rm -rf "$cache"
  debootstrap --variant=minbase --include=man-db bookworm "$cache" >/dev/null
  touch "$cache.done"
fi
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
cp -a "$cache/." "$bare/"
cp "$deb" "$bare/attn.deb"
inside() { chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
# Without what depends on when it is asked: caches, logs and the package manager's own state.
files() { (cd "$bare" && find . -path ./proc -prune -o -path ./sys -prune -o -path ./dev -prune -o -path ./var/cache -prune -o -path ./var/log -prune \
  -o -path ./var/lib/apt -prune -o -path ./var/lib/dpkg -prune -o -path ./tmp -prune -o -print | sort); }
cp /etc/resolv.conf "$bare/etc/" 2>/dev/null || true

inside apt-get update -qq
# What it depends on is there before, so that only the package itself is counted.
inside apt-get install -y -qq --no-install-recommends $(dpkg-deb -f "$deb" Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/,/ /g') >/dev/null
files >"$build/package/before"
inside apt-get install -y -qq --no-install-recommends /attn.deb >/dev/null
inside attn walk --only weights
inside attn --version | head -n 1
inside sh -c 'cd / && attn docs check /usr/share/doc/attn/docs/tour.md'
for page in attn attn-walk attn-explain; do
  inside env MANPAGER=cat man "$page" | grep -q '^EXIT STATUS$' || { echo "man $page shows no page" >&2; exit 1; }
done
pages=$(ls "$bare/usr/share/man/man1/" | grep -c '^attn.*\.1\.gz$')
commands=$(inside attn complete -- '' | tail -n +2 | wc -l)
echo "$pages manual pages, $commands commands"
[ "$pages" -eq $((commands + 1)) ]
for file in bash-completion/completions/attn zsh/vendor-completions/_attn fish/vendor_completions.d/attn.fish \
  doc/attn/copyright doc/attn/changelog.Debian.gz doc/attn/README.md doc/attn/docs/tour.md; do
  [ -s "$bare/usr/share/$file" ] || { echo "/usr/share/$file is missing" >&2; exit 1; }
done
inside apt-get purge -y -qq attn >/dev/null
files >"$build/package/after"
diff "$build/package/before" "$build/package/after"
if inside sh -c 'command -v attn'; then exit 1; fi
echo "installed, tried, and removed without a trace"
