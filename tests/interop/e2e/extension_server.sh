#!/usr/bin/env bash
# extension_server.sh PROGRAM ARGUMENT…: run an extension server in a pod that is a process. It
# listens at the address of its pod, and its account has no fixed folder.
set -eu
account=$QUINTANT_SERVICE_ACCOUNT
kubeconfig=$QUINTANT_ROOT/kubeconfig
cat > "$kubeconfig" <<CONFIG
apiVersion: v1
kind: Config
clusters:
- name: here
  cluster:
    server: https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT
    certificate-authority: $account/ca.crt
users:
- name: pod
  user: {tokenFile: $account/token}
contexts:
- name: here
  context: {cluster: here, user: pod}
current-context: here
CONFIG
exec "$@" --bind-address="$QUINTANT_POD_IP" --kubeconfig="$kubeconfig" \
    --authentication-kubeconfig="$kubeconfig" --authorization-kubeconfig="$kubeconfig"
