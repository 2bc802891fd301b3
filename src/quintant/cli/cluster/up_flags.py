"""The flags of `quintant up`: what they exclude, and the cluster that they ask for."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import Struct

from quintant.cluster.apiserver.meta.names import dns1123_label_errors
from quintant.cluster.common.labels import NODE
from quintant.cluster.common.node_heartbeat import SHORTEST_SECONDS, HeartbeatTimes
from quintant.cluster.instance.cluster import USUAL, ClusterConfig
from quintant.cluster.kubelet.container.images import load_image_table
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.cluster.simulated.stages import load_stages
from quintant.core.address import BindAddress
from quintant.core.options import DURATION


class UpFlags(Struct, frozen=True):
    """What was given, by the names of the flags."""

    name: str
    detach: bool
    listen: str
    data_dir: Path | None
    power_safe: bool
    salvage: bool
    from_snapshot: Path | None
    kubeconfig: Path | None
    print_kubeconfig: bool
    nodes: int
    zones: int
    stages: Path | None
    simulate_completion: float | None
    images: Path | None
    process_nodes: str
    node_grace: str
    allow_host_path: bool
    no_node: bool
    api_only: bool
    load: tuple[Path, ...]

    def check(self) -> None:
        """UsageError for flags that exclude each other."""
        if self.power_safe and not self.data_dir:
            raise click.UsageError("--power-safe needs --data-dir")
        if self.salvage and not self.data_dir:
            raise click.UsageError("--salvage needs --data-dir")
        if self.from_snapshot and self.data_dir:
            raise click.UsageError("--from-snapshot and --data-dir exclude each other")
        if self.kubeconfig and self.print_kubeconfig:
            raise click.UsageError("--kubeconfig and --print-kubeconfig exclude each other")
        if self.detach and self.print_kubeconfig:
            raise click.UsageError("--detach and --print-kubeconfig exclude each other")
        if self.nodes < 0 or self.zones < 1:
            raise click.UsageError("--nodes is at least 0, and --zones at least 1")
        if self.process_nodes and not self._has_node:
            raise click.UsageError(
                "--process-nodes needs the node: neither --no-node nor --api-only"
            )

    def config(self) -> ClusterConfig:
        """The cluster; UsageError for a value that is none, an error of its file for a bad file."""
        return ClusterConfig(
            BindAddress.parse(self.listen) if self.listen else USUAL,
            controllers=not self.api_only,
            fleet=None if self.api_only else Fleet(self.nodes, self.zones),
            stages=load_stages(self.stages) if self.stages else (),
            completion=self.simulate_completion,
            node=self._node_options() if self._has_node else None,
            times=parse_grace(self.node_grace),
            name=self.name,
        )

    @property
    def secret_paths(self) -> list[str]:
        """What leads to keys and Secrets."""
        paths = (self.kubeconfig, self.data_dir, self.from_snapshot)
        return [str(path) for path in paths if path]

    @property
    def _has_node(self) -> bool:
        return not (self.no_node or self.api_only)

    def _node_options(self) -> NodeOptions:
        return NodeOptions(
            load_image_table(self.images) if self.images else (),
            self.allow_host_path,
            process_nodes=parse_node_names(self.process_nodes),
        )


def parse_node_names(text: str) -> tuple[str, ...]:
    """The names in a list with commas; UsageError if they are no names of nodes."""
    names = tuple(text.split(",")) if text else ()
    for name in names:
        if dns1123_label_errors(name) or name == NODE or names.count(name) > 1:
            raise click.UsageError(
                f"--process-nodes {text}: {name!r} is no name for a further node; "
                "try --process-nodes paris,berlin"
            )
    return names


def parse_grace(text: str) -> HeartbeatTimes:
    """The times that follow from a grace; UsageError if it is too short, or none."""
    try:
        seconds = DURATION.parse(text)
    except ValueError:
        seconds = 0.0
    if seconds < SHORTEST_SECONDS:
        raise click.UsageError(
            f"--node-grace {text}: expected a duration of {SHORTEST_SECONDS:g}s or more, as 5s"
        )
    return HeartbeatTimes(seconds)
