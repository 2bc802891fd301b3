"""Which upgrade waits for a copy of a volume, if its version asks for one. Pure.

    halted ──> the pod of the lowest ordinal goes ──> copy ──> ready ──> all get the next version

The chain stands still meanwhile, so nothing is lost but time. A copy that fails, or takes too long,
holds no node back for ever. All follows from what is there: after a crash it continues. The copy
itself is planned in plan/pre_upgrade.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from quintant.api.snapshot import VolumeSnapshot
from quintant.core.clock import parse_timestamp
from quintant.operators.cosmos.api.chain import ChainVersion
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.status import FullNodeStatus
from quintant.operators.cosmos.builders.instances import Instance, app_name, instances, to_name
from quintant.operators.cosmos.builders.versions import resolve_version

LIMIT = timedelta(minutes=30)
"""How long a copy may take before the upgrade continues without it."""


@dataclass(frozen=True, slots=True)
class PreUpgrade:
    """The version that waits for a copy, and whose volume is copied."""

    version: ChainVersion | None = None
    candidate: Instance | None = None
    """Its pod goes, so that nothing writes to the volume."""

    @property
    def held_below(self) -> int | None:
        """The height below which versions are chosen meanwhile."""
        return self.version.height if self.version is not None else None


def pre_upgrade(
    full_node: CosmosFullNode,
    images: Mapping[str, str],
    snapshots: Iterable[VolumeSnapshot],
    now: datetime,
) -> PreUpgrade:
    """What an upgrade waits for; `images` are what pods run, by name."""
    status, versions = full_node.status or FullNodeStatus(), full_node.spec.chain.versions
    waiting = []
    for instance in instances(full_node):
        upgrade = status.upgrade_info.get(instance.name)
        version = resolve_version(versions, upgrade.height) if upgrade is not None else None
        if version is None or not version.snapshot_before:
            continue
        if images.get(instance.name) == version.image:
            return PreUpgrade()  # one has it already: it is too late for a copy
        if status.height.get(instance.name, 0) <= version.height + 1:
            waiting.append((instance, version))
    if not waiting:
        return PreUpgrade()
    candidate, version = waiting[0]
    name = snapshot_name(full_node, version)
    copy = next((each for each in snapshots if each.metadata.name == name), None)
    if copy is not None and _is_over(copy, now):
        return PreUpgrade()
    return PreUpgrade(version, candidate)


def snapshot_name(full_node: CosmosFullNode, version: ChainVersion) -> str:
    """The name of the copy that is made before a version."""
    return to_name(f"{app_name(full_node)}-before-{version.height}")


def _is_over(copy: VolumeSnapshot, now: datetime) -> bool:
    if copy.status is not None and (copy.status.ready_to_use or copy.status.error is not None):
        return True
    made = copy.metadata.creation_timestamp
    return made is not None and now - parse_timestamp(made) > LIMIT
