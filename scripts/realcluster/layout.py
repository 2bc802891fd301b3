"""Names, addresses and files of a real cluster: pure values, from which everything else is made."""

from dataclasses import dataclass
from pathlib import Path

CLUSTER = "quintant-real"
"""The name of its bridge's other end, of its cgroups, and of its entry in kubeconfigs."""
CONTROL_PLANE = "10.250.0.1"
API_SERVER = f"https://{CONTROL_PLANE}:6443"
SERVICES = "10.96.0.0/16"
KUBERNETES_SERVICE = "10.96.0.1"
DNS_SERVICE = "10.96.0.10"
PODS = "10.244.0.0/16"
DOMAIN = "cluster.local"
BRIDGE = "lan0"
STORAGE_CLASS = "standard"
VOLUMES = 4
"""Local volumes of each node; nothing makes more of them."""
LOGS, MACHINE_LOGS = "logs", "log"
"""The folders of what programs print: of the control plane, and of each node."""


@dataclass(frozen=True)
class Machine:
    """One node, by its number, from 1."""

    number: int
    folder: Path

    @property
    def name(self) -> str:
        """Of the Node and the host."""
        return f"worker-{self.number}"

    @property
    def address(self) -> str:
        """On the control plane's bridge."""
        return f"10.250.0.{10 + self.number}"

    @property
    def pods(self) -> str:
        """The addresses of its pods."""
        return f"10.244.{self.number}.0/24"

    @property
    def link(self) -> str:
        """The control plane's end of its cable."""
        return f"node{self.number}"

    @property
    def cgroup(self) -> str:
        """Below which its pods are, in every hierarchy."""
        return f"{CLUSTER}/{self.name}"

    @property
    def libraries(self) -> Path:
        """What it has instead of /var/lib."""
        return self.folder / "lib"

    @property
    def logs(self) -> Path:
        """What it has instead of /var/log."""
        return self.folder / MACHINE_LOGS

    @property
    def pids(self) -> Path:
        """Where its first process writes which pid each program has, as seen inside."""
        return self.folder / "pids.json"


@dataclass(frozen=True)
class Layout:
    """The folder of one cluster."""

    folder: Path

    @property
    def keys(self) -> Path:
        """Certificates and keys."""
        return self.folder / "keys"

    @property
    def logs(self) -> Path:
        """What every program prints."""
        return self.folder / LOGS

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self.kubeconfig_of("admin")

    def kubeconfig_of(self, name: str) -> Path:
        """The kubeconfig of a component."""
        return self.folder / f"{name}.kubeconfig"

    def certificate(self, name: str) -> Path:
        """The certificate of a component."""
        return self.keys / f"{name}.crt"

    def key(self, name: str) -> Path:
        """The key of a component."""
        return self.keys / f"{name}.key"

    def machine(self, number: int) -> Machine:
        """One node."""
        return Machine(number, self.folder / f"worker-{number}")
