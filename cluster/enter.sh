#!/usr/bin/env bash
# enter.sh [COMMAND...]: runs COMMAND (or a shell) inside the cluster's namespaces, in the present directory. There every
# pod, Service and node address is reachable without a forwarder, and kubectl, ctr and helm are set up.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
pid=$(init_pid) || die "no cluster runs in $STATE: make cluster-up"
(($#)) || set -- bash
export KUBECONFIG=$ADMIN CONTAINERD_ADDRESS=$CRI CONTAINERD_NAMESPACE=k8s.io
exec nsenter -t "$pid" --net --mount --pid sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
