"""An upgrade waits for the copy of one volume, and not for ever."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotError, VolumeSnapshotStatus
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.observed.pre_upgrade import PreUpgrade, pre_upgrade
from unit.operators.cosmos.full_nodes import full_node
from unit.operators.cosmos.observations import NOW

VERSIONS = [
    {"height": 0, "image": "v1"}, {"height": 100, "image": "v2", "snapshotBefore": "fast"},
]  # fmt: skip
TOLD = {f"hub-{at}": {"height": 100, "name": "v2"} for at in range(2)}
OLD = {"hub-0": "v1", "hub-1": "v1"}


def planned(images: dict[str, str], *snapshots: VolumeSnapshot, **status: Any) -> PreUpgrade:
    told = {"upgradeInfo": TOLD, "height": {"hub-0": 100, "hub-1": 100}, **status}
    of = full_node(replicas=2, chain={"versions": VERSIONS}, status=told)
    return pre_upgrade(of, images, snapshots, NOW)


def copy(age: int = 0, **status: Any) -> VolumeSnapshot:
    made = timestamp(NOW - timedelta(minutes=age))
    meta = ObjectMeta(name="hub-before-100", creation_timestamp=made)
    return VolumeSnapshot(metadata=meta, status=VolumeSnapshotStatus(**status))


def test_the_lowest_ordinal_goes_and_the_others_are_held() -> None:
    waiting = planned(OLD)
    assert waiting.candidate is not None
    assert (waiting.candidate.name, waiting.held_below) == ("hub-0", 100)


def test_a_copy_is_waited_for() -> None:
    assert planned({"hub-1": "v1"}, copy(ready_to_use=False)).held_below == 100


def test_it_goes_on_when_the_copy_is_ready_failed_or_late() -> None:
    assert planned({"hub-1": "v1"}, copy(ready_to_use=True)) == PreUpgrade()
    assert planned({"hub-1": "v1"}, copy(error=VolumeSnapshotError(message="x"))) == PreUpgrade()
    assert planned({"hub-1": "v1"}, copy(31, ready_to_use=False)) == PreUpgrade()


def test_nothing_is_copied_before_a_node_halts_nor_after_one_has_changed() -> None:
    assert planned(OLD, upgradeInfo={}) == PreUpgrade()
    assert planned({"hub-0": "v2", "hub-1": "v1"}) == PreUpgrade()
    past = {"hub-0": 500, "hub-1": 500}
    assert planned({}, height=past) == PreUpgrade()
