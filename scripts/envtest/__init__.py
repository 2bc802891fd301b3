"""The real Kubernetes control plane, as a test fixture: kube-apiserver over etcd, on loopback.

`RealCluster` is what the conformance suite and the benchmarks compare us with. Its binaries are
found, or built once with Go into a cache outside the repository (`binaries`, `build`); its
processes never outlive the one that started them (`process`).

    with RealCluster() as cluster:
        subprocess.run(["kubectl", "--kubeconfig", cluster.kubeconfig, "get", "namespaces"])
"""

from envtest.binaries import locate
from envtest.build import provide
from envtest.cluster import RealCluster
from envtest.errors import EnvtestError

__all__ = ["EnvtestError", "RealCluster", "locate", "provide"]
