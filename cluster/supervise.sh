#!/usr/bin/env bash
# supervise.sh NAME: keeps the daemon NAME running while $RUN/down/NAME is absent. Inside the namespaces.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
while :; do
  if [ -e "$RUN/down/$1" ]; then sleep 0.1; continue; fi
  "$HERE/daemon.sh" "$1" >>"$STATE/log/$1.log" 2>&1 </dev/null &
  echo $! >"$RUN/pid/$1"
  code=0; wait $! || code=$?
  : >"$RUN/pid/$1"
  echo "$(date -u +%FT%TZ) $1 ended with code $code" >>"$STATE/log/supervise.log"
  sleep 0.2
done
