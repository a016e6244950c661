#!/usr/bin/env bash
# Faults, on purpose:
#   ctl.sh status                            the daemons and whether they run
#   ctl.sh stop|start|restart|kill NAME...   a daemon (kube-apiserver, etcd, kubelet ...); kill and restart: it comes back by itself
#   ctl.sh kill-container NAMESPACE SELECTOR KILL to the main process of every container of the pods
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
usage() { sed -n '2,5s/^# \?//p' "$0"; exit 2; }
if [ ! -e "$RUN/init-ready" ]; then exec "$HERE/enter.sh" "$HERE/ctl.sh" "$@"; fi
known() { [ -e "$RUN/pid/$1" ] || die "no daemon $1: there are $(cd "$RUN/pid" && echo *)"; }
# signal_and_wait NAME FIRST SECONDS: sends FIRST, KILL after SECONDS, returns when that process is gone.
signal_and_wait() {
  local pid i; pid=$(cat "$RUN/pid/$1")
  [ -n "$pid" ] && kill "-$2" "$pid" 2>/dev/null || return 0
  for ((i = 0; i < $3 * 20; i++)); do [ -e "/proc/$pid" ] || return 0; sleep 0.05; done
  kill -KILL "$pid" 2>/dev/null || true
  while [ -e "/proc/$pid" ]; do sleep 0.02; done
}
command=${1-}; shift || usage
case $command in
status)
  for f in "$RUN"/pid/*; do
    if [ -s "$f" ]; then state=$(cat "$f"); elif [ -e "$RUN/down/${f##*/}" ]; then state=stopped; else state=restarting; fi
    printf '%-28s %s\n' "${f##*/}" "$state"
  done ;;
stop) for name; do known "$name"; touch "$RUN/down/$name"; signal_and_wait "$name" TERM 3; done ;;
start) for name; do known "$name"; rm -f "$RUN/down/$name"; done ;;
kill) for name; do known "$name"; signal_and_wait "$name" KILL 1; done ;;
restart) for name; do known "$name"; rm -f "$RUN/down/$name"; signal_and_wait "$name" TERM 3; done ;;
kill-container)
  (($# == 2)) || usage
  ids=$(kubectl get pods -n "$1" -l "$2" -o 'jsonpath={range .items[*].status.containerStatuses[*]}{.containerID}{"\n"}{end}' | sed -n 's|^containerd://||p')
  [ -n "$ids" ] || die "no container of a pod in $1 with $2"
  for id in $ids; do ctr tasks kill -s SIGKILL "$id" 2>/dev/null && echo "$id" || say "container $id does not run" >&2; done ;;
*) usage ;;
esac
