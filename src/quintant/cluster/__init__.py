"""The embedded cluster: the programs of a Kubernetes cluster in one process.

    instance     what `quintant up` starts: keys, addresses, and all of the programs below
    apiserver    kube-apiserver: in the order in which a request meets its rooms, see there
    controllers  kube-controller-manager        scheduler   kube-scheduler
    kubelet      pods as processes              kubeproxy   services that can be dialled, and DNS
    volumes      a CSI driver of directories    simulated   nodes and pods without a machine
    component    a program as the server knows it: a user, a role and a Manager
    common       labels, taints, views and volume paths that several programs need
    host         files and loopback addresses of this machine

The programs never import each other: they meet in the API, as in a real cluster.
"""
