#!/usr/bin/env bash
# Replaces the records of a zone of the invented DNS, in effect when the script ends:
#   zone.sh set ZONE 'docs IN CNAME x.apps.platform.test.' ...    the zone contains these records, its SOA and its NS
#   zone.sh set ZONE                                              the zone contains no further record
#   zone.sh show                                                  prints all zones
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# One file for each zone, db.ZONE.
scratch
# shellcheck disable=SC2016 # a Go template
for key in $(kubectl -n dns get configmap zones -o go-template='{{range $key, $_ := .data}}{{$key}} {{end}}'); do
  kubectl -n dns get configmap zones -o go-template="{{index .data \"$key\"}}" >"$TMP/$key"
done

case ${1-} in
  show) cat "$TMP"/db.* ;;
  set)
    [ $# -ge 2 ] || die "usage: zone.sh set ZONE RECORD..."
    zone=${2%.}
    shift 2
    {
      # The serial does not matter: a new server reads the files.
      # shellcheck disable=SC2016 # directives of a zone file
      printf '$ORIGIN %s.\n$TTL 1\n@ IN SOA ns.test. hostmaster.test. %s 60 60 600 1\n@ IN NS ns.test.\n' "$zone" "$(date +%s)"
      for record; do printf '%s\n' "$record"; done
    } >"$TMP/db.$zone"
    kubectl -n dns create configmap zones --from-file="$TMP" --dry-run=client -o yaml | apply
    kubectl -n dns rollout restart deployment/zones >/dev/null
    kubectl -n dns rollout status deployment/zones --timeout=60s >/dev/null
    ;;
  *) die "usage: zone.sh set ZONE RECORD... | zone.sh show" ;;
esac
