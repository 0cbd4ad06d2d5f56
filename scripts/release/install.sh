#!/bin/sh
# Installs authserve from the archive of a release, after its signature and checksum were verified:
#   sh install.sh [--from FOLDER|URL] [--prefix FOLDER] [--public-key KEY]
# The archive, SHA256SUMS and SHA256SUMS.minisig lie in FOLDER, by default that of this script, or below URL.
# It writes PREFIX/bin/authserve, by default in /usr/local. As root on a system with systemd it also writes
# PREFIX/bin/service-authserve and /etc/systemd/system/authserve.service. It changes nothing else.
set -eu

version=@VERSION@
key=@KEY@
from=$(dirname -- "$0")
prefix=/usr/local

fail() { echo "error: $1" >&2; exit 1; }

while [ $# -gt 0 ]; do
  case $1 in
    --from | --prefix | --public-key) [ $# -ge 2 ] || fail "$1 needs a value" ;;
    *) sed -n '2,6s/^# //p' "$0" >&2; exit 2 ;;
  esac
  case $1 in
    --from) from=$2 ;;
    --prefix) prefix=$2 ;;
    --public-key) key=$2 ;;
  esac
  shift 2
done

[ "$(uname -s)" = Linux ] ||
  fail "there is no archive for $(uname -s); run the container image, or this in a Linux virtual machine"
[ -n "$key" ] || fail "this release is not signed; name the key of your own build with --public-key"
command -v minisign >/dev/null || fail "minisign is missing; install it, e.g. with: apt-get install minisign"

case $(uname -m) in
  x86_64 | amd64) cpu=x64 ;;
  aarch64 | arm64) cpu=arm64 ;;
  *) fail "there is no archive for $(uname -m)" ;;
esac
name=authserve-$version-linux-$cpu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# The copies in the scratch folder are verified and installed, so that nobody can exchange them in between.
for file in SHA256SUMS SHA256SUMS.minisig "$name.tar.gz"; do
  case $from in
    https://* | http://*) curl -fsSL -o "$scratch/$file" "$from/$file" || fail "$from/$file cannot be downloaded" ;;
    *) cp -- "$from/$file" "$scratch/$file" || fail "$from/$file cannot be read" ;;
  esac
done

cd "$scratch"
minisign -Vqm SHA256SUMS -P "$key" >/dev/null || fail "SHA256SUMS is not signed by the key of the release; nothing was installed"
# Exactly the line of this archive.
grep "^[0-9a-f]\{64\}  $name\.tar\.gz\$" SHA256SUMS >sum || fail "SHA256SUMS does not list $name.tar.gz; nothing was installed"
sha256sum -c sum >/dev/null ||
  fail "$name.tar.gz does not have its checksum; nothing was installed"
tar -xzf "$name.tar.gz"

# Writes a file beside its place and renames it: a running program keeps its old one.
place() {
  mkdir -p "$(dirname "$3")"
  cp "$name/$2" "$3.new"
  chmod "$1" "$3.new"
  mv -f "$3.new" "$3"
  echo "installed $3"
}

place 0755 authserve "$prefix/bin/authserve"
if [ "$(id -u)" = 0 ] && [ -d /etc/systemd/system ] && [ "$prefix" = /usr/local ]; then
  place 0755 deploy/service-authserve "$prefix/bin/service-authserve"
  place 0644 deploy/authserve.service /etc/systemd/system/authserve.service
  echo "Set up a new service with: authserve init --system"
  echo "Restart a running one with: systemctl daemon-reload && systemctl try-restart authserve"
fi
