"""The real Kubernetes control plane, as a test fixture: kube-apiserver over etcd, on loopback.

`RealCluster` is what the conformance suite and the benchmarks compare us with. Its binaries are
found, or built once with Go into a cache outside the repository (`binaries`, `build`); how programs
of others are built and run at all is in `foreign`.

    with RealCluster() as cluster:
        subprocess.run(["kubectl", "--kubeconfig", cluster.kubeconfig, "get", "namespaces"])
"""

from envtest.binaries import locate
from envtest.build import provide
from envtest.cluster import RealCluster

__all__ = ["RealCluster", "locate", "provide"]
