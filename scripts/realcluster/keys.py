"""Certificates of every component, signed by an authority that lives as long as the cluster."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from envtest.access import private_key, write_secret
from quintant.core.clock import SystemClock
from quintant.keys.authority import Authority, Validity
from quintant.keys.tls import KeyPair
from realcluster.layout import (
    API_SERVER,
    CLUSTER,
    CONTROL_PLANE,
    DOMAIN,
    KUBERNETES_SERVICE,
    Layout,
)

AUTHORITY, SERVICE_ACCOUNTS = "ca", "service-accounts"
_LIFE = timedelta(days=2)
_NAMES = ("kubernetes", "kubernetes.default", "kubernetes.default.svc")
_USERS: Mapping[str, tuple[str, Sequence[str]]] = {
    "admin": ("admin", ("system:masters",)),
    "apiserver-kubelet-client": ("kube-apiserver-kubelet-client", ("system:masters",)),
    "manager": ("system:kube-controller-manager", ()),
    "scheduler": ("system:kube-scheduler", ()),
    "proxy": ("system:kube-proxy", ()),
    "dns": ("coredns", ()),
    "network-policy": ("network-policy", ()),
}
"""Who each component is to the API server: user and groups."""


@dataclass(frozen=True)
class Keys:
    """Signs, and writes what it signed."""

    layout: Layout
    authority: Authority
    validity: Validity

    @classmethod
    def make(cls, layout: Layout) -> "Keys":
        """Everything that the control plane needs."""
        layout.keys.mkdir(mode=0o700)
        now = SystemClock().now()
        validity = Validity(now, now + _LIFE)
        keys = cls(layout, Authority.make(CLUSTER, validity), validity)
        keys._write(AUTHORITY, keys.authority.pair)
        names = (*_NAMES, f"{_NAMES[-1]}.{DOMAIN}", "127.0.0.1", KUBERNETES_SERVICE, CONTROL_PLANE)
        keys._write("apiserver", keys.authority.serving(names, validity))
        write_secret(layout.key(SERVICE_ACCOUNTS), private_key())
        for name, (user, groups) in _USERS.items():
            keys.user(name, user, groups)
        return keys

    def node(self, name: str) -> None:
        """The kubeconfig of a kubelet."""
        self.user(name, f"system:node:{name}", ("system:nodes",))

    def user(self, name: str, user: str, groups: Sequence[str]) -> None:
        """A client's certificate, and a kubeconfig with it."""
        self._write(name, self.authority.client(user, groups, self.validity))
        document = json.dumps(kubeconfig(self.layout, name), indent=2)
        write_secret(self.layout.kubeconfig_of(name), document)

    def _write(self, name: str, pair: KeyPair) -> None:
        self.layout.certificate(name).write_bytes(pair.certificate.reveal())
        write_secret(self.layout.key(name), pair.key.reveal())


def kubeconfig(layout: Layout, name: str) -> dict[str, object]:
    """A kubeconfig that names the files of a component."""
    trust = {"server": API_SERVER, "certificate-authority": str(layout.certificate(AUTHORITY))}
    user = {
        "client-certificate": str(layout.certificate(name)),
        "client-key": str(layout.key(name)),
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CLUSTER,
        "clusters": [{"name": CLUSTER, "cluster": trust}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": CLUSTER, "context": {"cluster": CLUSTER, "user": name}}],
    }
