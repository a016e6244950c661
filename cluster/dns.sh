#!/usr/bin/env bash
# Records of the cluster's authoritative DNS, in effect within half a second:
#   dns.sh set ZONE 'docs IN CNAME x.apps.platform.test.' ...   the zone has exactly these records (and its SOA and NS)
#   dns.sh set ZONE                                             the zone is empty again
#   dns.sh add ZONE RECORD...                                   these too
#   dns.sh remove ZONE                                          no such zone any more
#   dns.sh show [ZONE...]
# A zone that is not there yet comes into being. A zone file may as well be written by hand: .cluster/zones/db.ZONE, with
# another serial than before, put in place by a rename. With `@ IN NS` among the records they stand in place of the usual
# one: a server at 192.0.2.1 swallows questions, one at 198.51.100.1 refuses the connection.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
usage() { sed -n '2,10s/^# \?//p' "$0"; exit 2; }
[ -d "$STATE/zones" ] || die "no cluster runs in $STATE: make cluster-up"
command=${1-}; shift || usage
exec 8>"$STATE/tmp/dns.lock"; flock 8
write() { # ZONE < records
  local zone=${1%.} file=$STATE/zones/db.${1%.} serial=0 records; records=$(cat)
  [ ! -f "$file" ] || serial=$(awk '/SOA/ {for (i = 1; i < NF; i++) if ($i == "SOA") {print $(i + 3); exit}}' "$file")
  {
    printf '$ORIGIN %s.\n$TTL 1\n@ IN SOA ns.test. hostmaster.test. %s 60 60 600 1\n' "$zone" $((serial + 1))
    grep -qiE '^@?[[:space:]]+([0-9]+[[:space:]]+)?IN[[:space:]]+NS[[:space:]]' <<<"$records" || echo '@ IN NS ns.test.'
    printf '%s\n' "$records"
  } >"$STATE/tmp/db.$zone"
  mv "$STATE/tmp/db.$zone" "$file"
}
records() { sed -e '/^;/d' -e '/^\$/d' -e '/[[:space:]]SOA[[:space:]]/d' -e '/^@ IN NS ns\.test\.$/d' -e '/^$/d' "$STATE/zones/db.${1%.}" 2>/dev/null || true; }
case $command in
set) (($#)) || usage; zone=$1; shift; printf '%s\n' "$@" | write "$zone" ;;
add) (($# > 1)) || usage; zone=$1; shift; { records "$zone"; printf '%s\n' "$@"; } | write "$zone" ;;
remove) (($# == 1)) || usage; rm -f "$STATE/zones/db.${1%.}" ;;
show) (($#)) || set -- $(cd "$STATE/zones" && ls | sed -n 's/^db\.//p'); for zone; do echo "; $zone"; cat "$STATE/zones/db.$zone"; done ;;
*) usage ;;
esac
