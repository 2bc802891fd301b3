"""A copy before an upgrade: of one volume that nobody writes to, and it holds nobody for ever."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotError, VolumeSnapshotStatus
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.plan.pre_upgrade import PreUpgrade, plan_pre_upgrade
from unit.operators.cosmos.full_nodes import crd
from unit.operators.cosmos.observations import NOW

VERSIONS = [
    {"height": 0, "image": "v1"}, {"height": 100, "image": "v2", "snapshotBefore": "fast"},
]  # fmt: skip
TOLD = {f"hub-{at}": {"height": 100, "name": "v2"} for at in range(2)}
OLD = {"hub-0": "v1", "hub-1": "v1"}


def planned(images: dict[str, str], *snapshots: VolumeSnapshot, **status: Any) -> PreUpgrade:
    told = {"upgradeInfo": TOLD, "height": {"hub-0": 100, "hub-1": 100}, **status}
    of = crd(replicas=2, chain={"versions": VERSIONS}, status=told)
    return plan_pre_upgrade(of, images, snapshots, NOW)


def copy(age: int = 0, **status: Any) -> VolumeSnapshot:
    made = timestamp(NOW - timedelta(minutes=age))
    meta = ObjectMeta(name="hub-before-100", creation_timestamp=made)
    return VolumeSnapshot(metadata=meta, status=VolumeSnapshotStatus(**status))


def test_the_lowest_ordinal_goes_first_and_is_copied_when_it_is_gone() -> None:
    waiting = planned(OLD)
    assert waiting.candidate is not None
    assert (waiting.candidate.name, waiting.create, waiting.held_below) == ("hub-0", None, 100)
    gone = planned({"hub-1": "v1"})
    assert gone.create is not None
    assert gone.create.metadata.name == "hub-before-100"
    assert gone.create.spec.volume_snapshot_class_name == "fast"
    assert gone.create.metadata.owner_references == ()


def test_a_copy_is_made_once_and_waited_for() -> None:
    found = planned({"hub-1": "v1"}, copy(ready_to_use=False))
    assert (found.create, found.held_below) == (None, 100)


def test_it_goes_on_when_the_copy_is_ready_failed_or_late() -> None:
    assert planned({"hub-1": "v1"}, copy(ready_to_use=True)) == PreUpgrade()
    assert planned({"hub-1": "v1"}, copy(error=VolumeSnapshotError(message="x"))) == PreUpgrade()
    assert planned({"hub-1": "v1"}, copy(31, ready_to_use=False)) == PreUpgrade()


def test_nothing_is_copied_before_a_node_halts_nor_after_one_has_changed() -> None:
    assert planned(OLD, upgradeInfo={}) == PreUpgrade()
    assert planned({"hub-0": "v2", "hub-1": "v1"}) == PreUpgrade()
    past = {"hub-0": 500, "hub-1": 500}
    assert planned({}, height=past) == PreUpgrade()
