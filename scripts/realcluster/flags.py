"""The command lines of the control plane, as pure functions of a layout."""

from realcluster.keys import AUTHORITY, SERVICE_ACCOUNTS
from realcluster.layout import CONTROL_PLANE, DOMAIN, SERVICES, Layout

_STORE, _PEER = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
NODE_GRACE_SECONDS = 16
"""After which a silent node is not ready; kubelets report every four."""


def etcd(layout: Layout) -> tuple[str, ...]:
    """One member, no fsync: its data is thrown away."""
    return (
        "--name=real",
        f"--data-dir={layout.folder / 'etcd'}",
        "--unsafe-no-fsync",
        "--log-level=warn",
        f"--listen-client-urls={_STORE}",
        f"--advertise-client-urls={_STORE}",
        f"--listen-peer-urls={_PEER}",
        f"--initial-advertise-peer-urls={_PEER}",
        f"--initial-cluster=real={_PEER}",
    )


def apiserver(layout: Layout) -> tuple[str, ...]:
    """As kubeadm has it: nodes and RBAC, and webhooks reached at the addresses of their pods."""
    accounts = layout.key(SERVICE_ACCOUNTS)
    return (
        f"--etcd-servers={_STORE}",
        "--bind-address=0.0.0.0",
        f"--advertise-address={CONTROL_PLANE}",
        "--secure-port=6443",
        f"--tls-cert-file={layout.certificate('apiserver')}",
        f"--tls-private-key-file={layout.key('apiserver')}",
        f"--client-ca-file={layout.certificate(AUTHORITY)}",
        f"--kubelet-client-certificate={layout.certificate('apiserver-kubelet-client')}",
        f"--kubelet-client-key={layout.key('apiserver-kubelet-client')}",
        "--kubelet-preferred-address-types=InternalIP",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={accounts}",
        f"--service-account-signing-key-file={accounts}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--service-cluster-ip-range={SERVICES}",
        "--allow-privileged=true",
        "--enable-aggregator-routing=true",
    )


def manager(layout: Layout) -> tuple[str, ...]:
    """The only replica; it gives up on a node sooner than usual, as the tests wait for that."""
    return (
        *_client(layout, "manager"),
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={layout.key(SERVICE_ACCOUNTS)}",
        f"--root-ca-file={layout.certificate(AUTHORITY)}",
        f"--cluster-signing-cert-file={layout.certificate(AUTHORITY)}",
        f"--cluster-signing-key-file={layout.key(AUTHORITY)}",
        f"--node-monitor-grace-period={NODE_GRACE_SECONDS}s",
    )


def scheduler(layout: Layout) -> tuple[str, ...]:
    """The only replica."""
    return _client(layout, "scheduler")


def corefile(layout: Layout) -> str:
    """CoreDNS beside the control plane: names of the cluster, and no others."""
    return f"""\
.:53 {{
  errors
  health {CONTROL_PLANE}:8080
  ready {CONTROL_PLANE}:8181
  cache 5
  kubernetes {DOMAIN} in-addr.arpa {{
    kubeconfig {layout.kubeconfig_of("dns")}
  }}
}}
"""


def _client(layout: Layout, name: str) -> tuple[str, ...]:
    own = layout.kubeconfig_of(name)
    return (
        f"--kubeconfig={own}",
        f"--authentication-kubeconfig={own}",
        f"--authorization-kubeconfig={own}",
        "--bind-address=127.0.0.1",
        "--leader-elect=false",
    )
