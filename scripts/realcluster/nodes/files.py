"""The files of a node, as pure functions of its machine: what each of its programs is given.

All are written as JSON or TOML; what reads YAML reads JSON.
"""

import json
from typing import Any

from realcluster.keys import AUTHORITY
from realcluster.layout import CLUSTER, DNS_SERVICE, DOMAIN, PODS, Layout, Machine

SANDBOX = f"docker.io/library/{CLUSTER}-sandbox:1"
"""The image of what holds a pod's namespaces."""
CNI_FOLDER = "/var/lib/cni/net.d"
CNI_PROGRAMS = "/usr/lib/cni"
SOCKET = "/run/containerd/containerd.sock"
VOLUME_FOLDER = "/var/lib/volumes"

KERNEL_SETTINGS = {
    "vm/overcommit_memory": "1",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
}
"""Settings of the whole machine that a kubelet would change: it is shown files that have them."""


def containerd() -> str:
    """containerd's configuration."""
    return f"""\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "{SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{SANDBOX}"
  disable_apparmor = true
  # Without CAP_SYS_RESOURCE nobody may lower it, and runc fails if asked to.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{CNI_PROGRAMS}"
    conf_dir = "{CNI_FOLDER}"
"""


def cni(machine: Machine) -> str:
    """One bridge for the pods of a node; routes between nodes are the control plane's."""
    addresses = {
        "type": "host-local",
        "ranges": [[{"subnet": machine.pods}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipMasq": False,
        "hairpinMode": True,
        "ipam": addresses,
    }
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return json.dumps({"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge, ports]})


def kubelet(machine: Machine, layout: Layout) -> str:
    """The kubelet's configuration."""
    authority = str(layout.certificate(AUTHORITY))
    return _document(
        "kubelet.config.k8s.io/v1beta1",
        "KubeletConfiguration",
        # Version 1 of cgroups is refused unless it is asked for.
        failCgroupV1=False,
        cgroupDriver="cgroupfs",
        cgroupRoot=f"/{machine.cgroup}",
        failSwapOn=False,
        containerRuntimeEndpoint=f"unix://{SOCKET}",
        resolvConf="/etc/resolv.conf",
        clusterDNS=[DNS_SERVICE],
        clusterDomain=DOMAIN,
        authentication={
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": authority},
        },
        authorization={"mode": "Webhook"},
        volumePluginDir="/var/lib/kubelet/volumeplugins",
        # Images come from files: what is removed cannot be had again.
        imageGCHighThresholdPercent=100,
        evictionHard={"memory.available": "100Mi", "nodefs.available": "1%"},
        nodeStatusUpdateFrequency="4s",
        syncFrequency="10s",
        registerNode=True,
        serializeImagePulls=False,
    )


def proxy(machine: Machine, layout: Layout) -> str:
    """kube-proxy's configuration."""
    return _document(
        "kubeproxy.config.k8s.io/v1alpha1",
        "KubeProxyConfiguration",
        mode="nftables",
        clusterCIDR=PODS,
        hostnameOverride=machine.name,
        clientConnection={"kubeconfig": str(layout.kubeconfig_of("proxy"))},
        # They are settings of the whole machine, and none of this namespace's.
        conntrack={"maxPerCore": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        healthzBindAddress="127.0.0.1:10256",
        metricsBindAddress="127.0.0.1:10249",
    )


def _document(version: str, kind: str, **rest: Any) -> str:
    return json.dumps({"apiVersion": version, "kind": kind, **rest}, indent=2)
