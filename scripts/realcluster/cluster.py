"""A real cluster, from nothing to nodes that are ready, and back to nothing."""

import fcntl
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from foreign.cache import cache_folder
from foreign.errors import ProgramError, Report, announce
from realcluster import network
from realcluster.control_plane import ControlPlane
from realcluster.keys import Keys
from realcluster.layout import CLUSTER, LOGS, MACHINE_LOGS, Layout
from realcluster.nodes import cgroups
from realcluster.nodes.node import Node, NodeStarter
from realcluster.objects import dns_objects, policy_objects, volume_objects
from realcluster.programs import Programs
from realcluster.record import Record
from realcluster.waiting import wait


@dataclass(frozen=True)
class RealCluster:
    """A cluster that runs."""

    control_plane: ControlPlane
    starter: NodeStarter
    nodes: dict[int, Node] = field(default_factory=dict)
    """Those that are switched on, by number."""

    @property
    def layout(self) -> Layout:
        """Its files."""
        return self.control_plane.layout

    def switch_on(self, number: int) -> None:
        """Start a node that is not there yet, or lost its power."""
        self.nodes[number] = self.starter.start(number)

    def cut_power(self, number: int) -> None:
        """Let a node lose its power; Services are reached through another one from now on."""
        self.nodes.pop(number).cut_power()
        if self.nodes:
            self._lead_through(next(iter(self.nodes.values())))

    def await_ready(self) -> None:
        """Return when every node that is switched on takes pods."""
        for number in self.nodes:
            self._await_ready(self.nodes[number])

    def stop(self) -> None:
        """Cut the power of every node."""
        while self.nodes:
            self.nodes.popitem()[1].cut_power()

    def _lead_through(self, node: Node) -> None:
        network.route_services(self.control_plane.holder, node.machine)

    def _await_ready(self, node: Node) -> None:
        plane = self.control_plane

        def check() -> None:
            plane.check()
            node.child.check()

        name = node.machine.name
        wait(lambda: _is_ready(plane, name), f"{name} to be ready", plane.report, check)


@contextmanager
def running_cluster(
    programs: Programs,
    images: Path,
    environ: Mapping[str, str],
    *,
    size: int = 2,
    report: Report = announce,
) -> Iterator[RealCluster]:
    """Run a cluster; only one per machine, and what a killed one left is removed first."""
    with _alone(home(environ)) as folder, ExitStack() as stack:
        began = time.monotonic()
        record = _removed(environ)
        layout = _prepared(folder, record)
        stack.callback(_removed, environ)
        stack.callback(keep_logs, layout, folder / LOGS)
        plane = ControlPlane(layout, programs, record, report)
        stack.callback(plane.stop)
        keys = plane.prepare()
        starter = NodeStarter(layout, programs, images, record, plane.holder)
        cluster = RealCluster(plane, starter)
        stack.callback(cluster.stop)
        _populate(cluster, keys, size)
        report(f"{size} nodes are ready after {time.monotonic() - began:.1f} s")
        yield cluster


def keep_logs(layout: Layout, target: Path) -> None:
    """Keep what the programs of the last cluster printed: its own folder is removed with it."""
    shutil.rmtree(target, ignore_errors=True)
    layout.logs.rename(target)
    for log in layout.folder.glob(f"*/{MACHINE_LOGS}/*.log"):
        log.rename(target / f"{log.parent.parent.name}-{log.name}")


def clean(environ: Mapping[str, str]) -> None:
    """Remove what a killed cluster left."""
    with _alone(home(environ)):
        _removed(environ)


def _removed(environ: Mapping[str, str]) -> Record:
    """Remove what the record of a cluster names."""
    record = Record(home(environ) / "record.jsonl")
    if left := record.remove_all():
        raise ProgramError(
            "cannot remove a cluster",
            why=f"processes are still in {', '.join(left)}",
            hint="wait for them to end, then: python -m realcluster clean",
        )
    return record


def home(environ: Mapping[str, str]) -> Path:
    """The folder of the cluster's record and state."""
    return cache_folder(environ) / "real-cluster"


@contextmanager
def _alone(folder: Path) -> Iterator[Path]:
    """Hold the lock of the machine's only real cluster; the kernel releases it with its holder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ProgramError(
                "cannot start a real cluster",
                why="another one runs on this machine",
                hint="end it first",
            ) from None
        yield folder


def _prepared(folder: Path, record: Record) -> Layout:
    state = folder / "state"
    record.folder(state)
    for each in cgroups.tops(CLUSTER):
        record.cgroup(each)
    layout = Layout(state)
    layout.logs.mkdir(parents=True)
    return layout


def _populate(cluster: RealCluster, keys: Keys, size: int) -> None:
    """Switch the nodes on, and give the cluster what every other one comes with."""
    machines = [cluster.layout.machine(number) for number in range(1, size + 1)]
    for machine in machines:
        keys.node(machine.name)
        cluster.switch_on(machine.number)
    cluster.control_plane.start()
    network.route_services(cluster.control_plane.holder, machines[0])
    given = [*dns_objects(), *policy_objects(), *volume_objects(machines)]
    cluster.control_plane.apply(given)
    cluster.await_ready()


def _is_ready(plane: ControlPlane, name: str) -> bool:
    condition = "{.status.conditions[?(@.type=='Ready')].status}"
    found = plane.kubectl(
        "get", "node", name, "--ignore-not-found", f"--output=jsonpath={condition}"
    )
    return found == "True"
