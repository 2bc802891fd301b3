"""A real Kubernetes with real containers on one Linux machine, for the length of a test.

    control plane   etcd, kube-apiserver, kube-controller-manager, kube-scheduler, CoreDNS
    each node       kubelet, kube-proxy, containerd, runc, the CNI bridge, enforced NetworkPolicies

Each node is one "machine": a process in network, mount, PID and UTS namespaces of its own. The
control plane has a network namespace with a bridge to them. No address of it is one of the host,
and no packet leaves: images come from files. Everything hangs on the process that started it,
and ends with it, however it ends; only cgroups and the folder of the state are left to be removed,
by the record of what was made (`record`).

    python -m realcluster test [--full]     make test-cluster
    python -m realcluster up                until Ctrl-C, with a shell command to reach it
    python -m realcluster clean             what a killed run left
"""
