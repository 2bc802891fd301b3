"""The control plane: programs of one network namespace, reached as its administrator."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from envtest import binaries
from foreign.errors import ProgramError, Report, announce
from foreign.process import Child
from realcluster import flags, network
from realcluster.keys import Keys
from realcluster.layout import Layout
from realcluster.programs import Programs
from realcluster.record import Record
from realcluster.waiting import wait


@dataclass
class ControlPlane:
    """etcd, kube-apiserver, kube-controller-manager, kube-scheduler and CoreDNS."""

    layout: Layout
    programs: Programs
    record: Record
    report: Report = announce
    _children: list[Child] = field(default_factory=list)

    def prepare(self) -> Keys:
        """Make its network and its keys: nodes need no more to be switched on."""
        holder = self._child(network.HOLDER, "network")
        network.await_namespace(holder)
        network.make_bridge(holder.pid)
        return Keys.make(self.layout)

    def start(self) -> None:
        """Start its programs, and return when the API server is ready."""
        folder = self.programs.control_plane
        self._run(str(folder / binaries.STORE), flags.etcd(self.layout))
        self._run(str(folder / binaries.APISERVER), flags.apiserver(self.layout))
        wait(lambda: self.answers("/readyz"), "kube-apiserver", self.report, self.check)
        self._run(str(folder / binaries.MANAGER), flags.manager(self.layout))
        self._run(str(self.programs.scheduler), flags.scheduler(self.layout))
        corefile = self.layout.folder / "Corefile"
        corefile.write_text(flags.corefile(self.layout))
        self._run(str(self.programs.dns), ("-conf", str(corefile)))

    @property
    def holder(self) -> int:
        """The process that has its network."""
        return self._children[0].pid

    def check(self) -> None:
        """Raise if one of its programs has ended."""
        for child in self._children:
            child.check()

    def stop(self) -> None:
        """End its programs at once, the last first: nothing of theirs is kept."""
        while self._children:
            self._children.pop().kill()

    def kubectl(self, *words: str) -> str:
        """Run the administrator's kubectl, and return what it prints."""
        command = (str(self.programs.kubectl), f"--kubeconfig={self.layout.kubeconfig}", *words)
        return network.run(network.in_network(self.holder, command))

    def answers(self, *paths: str) -> bool:
        """Whether the API server has an answer for every path."""
        try:
            return all(self.kubectl("get", "--raw", path) for path in paths)
        except ProgramError:
            return False

    def apply(self, objects: Sequence[dict[str, Any]]) -> None:
        """Apply objects as the administrator."""
        file = self.layout.folder / "objects.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
        self.kubectl("apply", "--server-side", f"--filename={file}")

    def _run(self, program: str, words: Sequence[str]) -> None:
        self._child(network.in_network(self.holder, (program, *words)), program.rpartition("/")[2])

    def _child(self, command: Sequence[str], name: str) -> Child:
        child = Child(command, self.layout.logs / f"{name}.log")
        self._children.append(child)
        self.record.process(child.pid, name)
        return child
