"""The command lines of the real programs, as pure functions of a layout.

Everything listens on loopback only. Flags that a caller adds come last, and the last one wins.
"""

from dataclasses import dataclass
from pathlib import Path

from foreign.process import LOOPBACK, free_ports

SERVICE_RANGE = "10.96.0.0/16"

# Where API servers are said to be, in the `kubernetes` Endpoints: the real server refuses a
# loopback address there, and cannot find another on a machine without a network. Nobody connects
# to it: this one is reserved for documentation (RFC 5737).
ADVERTISED = "192.0.2.1"


@dataclass(frozen=True)
class Layout:
    """The folder, files and ports of one cluster."""

    folder: Path
    client_port: int
    peer_port: int
    secure_port: int

    @classmethod
    def choose(cls, folder: Path) -> "Layout":
        """Return a layout in the folder with ports that are free now."""
        return cls(folder, *free_ports(3))

    @property
    def store(self) -> str:
        """The URL of etcd for its clients."""
        return f"http://{LOOPBACK}:{self.client_port}"

    @property
    def peer(self) -> str:
        """The URL of etcd for its peers, of which there are none."""
        return f"http://{LOOPBACK}:{self.peer_port}"

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return f"https://{LOOPBACK}:{self.secure_port}"

    @property
    def certificates(self) -> Path:
        """The folder in which the API server makes its serving certificate."""
        return self.folder / "certificates"

    @property
    def ca(self) -> Path:
        """The generated serving certificate, which carries its authority along."""
        return self.certificates / "apiserver.crt"

    @property
    def tokens(self) -> Path:
        """The file of static tokens."""
        return self.folder / "tokens.csv"

    @property
    def key(self) -> Path:
        """The key that signs and verifies service account tokens."""
        return self.folder / "service-account.key"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "kubeconfig"


def etcd(layout: Layout) -> tuple[str, ...]:
    """Return etcd's flags: one member, no fsync, since the data is thrown away."""
    return (
        "--name=envtest",
        f"--data-dir={layout.folder / 'etcd'}",
        f"--listen-client-urls={layout.store}",
        f"--advertise-client-urls={layout.store}",
        f"--listen-peer-urls={layout.peer}",
        f"--initial-advertise-peer-urls={layout.peer}",
        f"--initial-cluster=envtest={layout.peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    )


def apiserver(layout: Layout, *, controllers: bool) -> tuple[str, ...]:
    """Return kube-apiserver's flags: RBAC on, an administrator by token."""
    flags = (
        f"--etcd-servers={layout.store}",
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={ADVERTISED}",
        f"--secure-port={layout.secure_port}",
        f"--cert-dir={layout.certificates}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={layout.key}",
        f"--service-account-signing-key-file={layout.key}",
        "--authorization-mode=RBAC",
        f"--token-auth-file={layout.tokens}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--allow-privileged=true",
    )
    # Without a controller manager no namespace gets its default service account, and this
    # plug-in would refuse every pod.
    return flags if controllers else (*flags, "--disable-admission-plugins=ServiceAccount")


def manager(layout: Layout) -> tuple[str, ...]:
    """Return kube-controller-manager's flags: the only replica, acting as administrator."""
    return (
        f"--kubeconfig={layout.kubeconfig}",
        f"--bind-address={LOOPBACK}",
        "--secure-port=0",
        "--leader-elect=false",
        "--use-service-account-credentials=false",
        f"--service-account-private-key-file={layout.key}",
        f"--root-ca-file={layout.ca}",
    )


def scheduler(layout: Layout) -> tuple[str, ...]:
    """Return kube-scheduler's flags: the only replica, acting as administrator."""
    return (
        f"--kubeconfig={layout.kubeconfig}",
        f"--bind-address={LOOPBACK}",
        "--secure-port=0",
        "--leader-elect=false",
    )
