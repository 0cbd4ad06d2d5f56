#!/usr/bin/env bash
# Makes an unprivileged container of Debian 13 on a host of Proxmox VE, with authserve and Caddy in it:
#   bash authserve.sh NAME EMAIL KEY FROM
# NAME is the public name, EMAIL that of the user, KEY the public key of the release, and FROM the folder or URL of its files.
# Variables change the container: ID (the next one), STORAGE (local-lvm), TEMPLATES (local), BRIDGE (vmbr0), IP (dhcp, or
# an address as pct takes it, e.g. 192.0.2.5/24,gw=192.0.2.1).
set -euo pipefail

fail() { echo "error: $1" >&2; exit 1; }

# Runs in the container: installs the .deb that KEY has signed, as docs/operate.md does, with a password of its own.
set_up() {
  local name=$1 email=$2 key=$3 from=$4 deb
  export DEBIAN_FRONTEND=noninteractive
  install -d -m 700 /root/authserve
  cd /root/authserve
  take() { case $from in https://* | http://*) curl -fsSLO "$from/$1" ;; esac; }
  apt-get update -qq
  apt-get install -y -qq minisign caddy curl ca-certificates
  take SHA256SUMS
  take SHA256SUMS.minisig
  minisign -Vqm SHA256SUMS -P "$key" >/dev/null || fail "SHA256SUMS is not signed by the key of the release"
  deb=$(sed -n "s/^[0-9a-f]\{64\}  \(authserve_[^/]*_$(dpkg --print-architecture)\.deb\)$/\1/p" SHA256SUMS)
  [ -n "$deb" ] || fail "SHA256SUMS lists no .deb for $(dpkg --print-architecture)"
  take "$deb"
  grep -F "  $deb" SHA256SUMS | sha256sum --check --quiet
  apt-get install -y -qq "./$deb"
  [ -s password ] || head -c 18 /dev/urandom | base64 >password
  authserve init --system --email "$email" <password
  sed "s/auth.example.com/$name/" /usr/share/doc/authserve/deploy/Caddyfile >/etc/caddy/Caddyfile
  systemctl restart caddy
}

# Runs on the host.
make_container() {
  local name=$1 from=$4 templates=${TEMPLATES:-local} id template file
  command -v pct >/dev/null || fail "pct is missing: run this on a host of Proxmox VE"
  id=${ID:-$(pvesh get /cluster/nextid)}
  pveam update >/dev/null
  template=$(pveam available --section system | awk '$2 ~ /^debian-13-standard_/ { print $2 }' | sort -V | tail -1)
  [ -n "$template" ] || fail "pveam knows no template debian-13-standard"
  pveam list "$templates" | grep -F "/$template" >/dev/null || pveam download "$templates" "$template"
  # Without nesting the container may not mount, which the sandbox of a unit needs: github.com/lxc/lxc/issues/4127
  pct create "$id" "$templates:vztmpl/$template" --unprivileged 1 --features nesting=1 --hostname "${name%%.*}" \
    --memory 1024 --rootfs "${STORAGE:-local-lvm}:8" --net0 "name=eth0,bridge=${BRIDGE:-vmbr0},ip=${IP:-dhcp}" \
    --arch "$(dpkg --print-architecture)" --onboot 1 --start 1
  for _ in $(seq 60); do
    pct exec "$id" -- getent hosts deb.debian.org >/dev/null && break
    sleep 1
  done
  pct exec "$id" -- install -d -m 700 /root/authserve
  pct push "$id" "$0" /root/authserve/set-up.sh
  case $from in
    https://* | http://*) ;;
    *) for file in "$from"/SHA256SUMS "$from"/SHA256SUMS.minisig "$from"/authserve_*.deb; do
      pct push "$id" "$file" "/root/authserve/${file##*/}"
    done ;;
  esac
  pct exec "$id" -- bash /root/authserve/set-up.sh --inside "$@"
  echo "Container $id has $(pct exec "$id" -- hostname -I). Lead $name, ports 80 and 443, to it."
  echo "Then log in to https://$name/account with the password of: pct exec $id -- cat /root/authserve/password"
}

run=make_container
if [ "${1:-}" = --inside ]; then run=set_up; shift; fi
[ $# -eq 4 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
"$run" "$@"
