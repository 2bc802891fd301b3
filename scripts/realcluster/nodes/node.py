"""A node: a machine made of namespaces, whose power can be cut and given again."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foreign.process import Child
from realcluster import network
from realcluster.images.store import copy_store
from realcluster.layout import CONTROL_PLANE, VOLUMES, Layout, Machine
from realcluster.nodes import cgroups, files, first_process
from realcluster.programs import Programs
from realcluster.record import Record

_NAMESPACES = ("--net", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child=KILL")
KUBELET, PROXY, RUNTIME = "kubelet", "kube-proxy", "containerd"
POLICIES = "network-policy"
_SCRIPTS = Path(__file__).parents[2]
_AGENT = _SCRIPTS / "realcluster" / "network_policy" / "agent.py"


@dataclass(frozen=True)
class NodeStarter:
    """What every node needs to be started."""

    layout: Layout
    programs: Programs
    images: Path
    """A containerd that has them, to be copied."""
    record: Record
    holder: int
    """The process that has the control plane's network."""

    def start(self, number: int) -> "Node":
        """Switch a node on, the first time or again."""
        machine = self.layout.machine(number)
        self._write(machine)
        cgroups.make(machine.cgroup)
        child = Child(
            ("unshare", *_NAMESPACES, sys.executable, "-I", first_process.__file__,
             str(machine.folder / "spec.json")),
            self.layout.logs / f"{machine.name}.log",
        )  # fmt: skip
        self.record.process(child.pid, machine.name)
        network.await_namespace(child)
        network.plug(self.holder, child.pid, machine)
        return Node(machine, child)

    def _write(self, machine: Machine) -> None:
        """All files of the node; what it kept from an earlier life stays."""
        containers = machine.libraries / "cni" / "net.d"
        for folder in (containers, machine.logs, machine.libraries / "kubelet"):
            folder.mkdir(parents=True, exist_ok=True)
        for volume in range(VOLUMES):
            (machine.libraries / "volumes" / str(volume)).mkdir(parents=True, exist_ok=True)
        if not (machine.libraries / RUNTIME).exists():
            copy_store(self.images, machine.libraries / RUNTIME)
        (containers / "10-bridge.conflist").write_text(files.cni(machine))
        written = {
            "containerd.toml": files.containerd(),
            "kubelet.json": files.kubelet(machine, self.layout),
            "proxy.json": files.proxy(machine, self.layout),
            "resolv.conf": "",
            "spec.json": json.dumps(self._spec(machine), indent=2),
        }
        for name, text in written.items():
            (machine.folder / name).write_text(text)
        for name, value in files.KERNEL_SETTINGS.items():
            (machine.folder / Path(name).name).write_text(value + "\n")

    def _spec(self, machine: Machine) -> dict[str, object]:
        """What its first process has to do."""
        folder = machine.folder
        settings = [(folder / Path(name).name, f"/proc/sys/{name}") for name in
                    files.KERNEL_SETTINGS]  # fmt: skip
        binds = [
            (machine.libraries, "/var/lib"),
            (machine.logs, "/var/log"),
            (folder / "resolv.conf", "/etc/resolv.conf"),
            *settings,
        ]
        return {
            "name": machine.name,
            "address": machine.address,
            "gateway": CONTROL_PLANE,
            "binds": [(str(source), target) for source, target in binds],
            "programs": self._commands(machine),
            "logs": str(machine.logs),
            "pids": str(machine.pids),
        }

    def _commands(self, machine: Machine) -> dict[str, Sequence[str]]:
        folder = machine.folder
        return {
            RUNTIME: ("containerd", "--config", str(folder / "containerd.toml")),
            PROXY: (str(self.programs.proxy), f"--config={folder / 'proxy.json'}"),
            KUBELET: (
                str(self.programs.kubelet),
                f"--config={folder / 'kubelet.json'}",
                f"--kubeconfig={self.layout.kubeconfig_of(machine.name)}",
                f"--hostname-override={machine.name}",
                f"--node-ip={machine.address}",
                "--v=2",
            ),
            POLICIES: (
                *("env", f"PYTHONPATH={_SCRIPTS}", sys.executable, "-m", "quintant", "run"),
                *(str(_AGENT), f"--kubeconfig={self.layout.kubeconfig_of(POLICIES)}"),
                *("--metrics=", "--probes=", "--log-format=json"),
            ),
        }


@dataclass(frozen=True)
class Node:
    """A node that was switched on."""

    machine: Machine
    child: Child

    def cut_power(self) -> None:
        """Everything on it is gone at once, as with a machine that loses its power."""
        self.child.kill()
        # A machine that is switched on again has none; a kubelet would look at each for seconds.
        for each in cgroups.tops(self.machine.cgroup):
            cgroups.remove(each)

    def kill(self, program: str) -> None:
        """Kill one of its programs; its first process starts it again."""
        pid = json.loads(self.machine.pids.read_text())[program]
        self.run("kill", "-KILL", str(pid))

    def run(self, *command: str) -> str:
        """Run a command on the node."""
        pid = self.child.pid
        inside = ("--mount", "--net", "--uts", f"--pid=/proc/{pid}/ns/pid_for_children")
        return network.run(("nsenter", f"--target={pid}", *inside, "--", *command))
