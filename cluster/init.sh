#!/usr/bin/env bash
# Process 1 of the cluster's namespaces. It makes the mounts that keep two clusters apart, and reaps; when it ends, all ends.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
for d in /run /var/lib/cni /var/lib/kubelet /var/log/containers; do
  mkdir -p "$d" && mount -t tmpfs -o mode=755 tmpfs "$d"
done
mkdir -p "$RUN"/{pid,down,sysctl}
# The kubelet insists on these, and they are the whole machine's: it gets copies to write to.
for s in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  [ -e "/proc/sys/$s" ] || continue
  cat "/proc/sys/$s" >"$RUN/sysctl/${s//\//.}"
  mount --bind "$RUN/sysctl/${s//\//.}" "/proc/sys/$s"
done
ip link set lo up
touch "$RUN/init-ready"
# bash reaps every orphan that it is given, while it waits.
while :; do sleep 86400 & wait $! || true; done
