"""The copy before an upgrade: made once, of a volume that no pod writes to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quintant.api.snapshot import VolumeSnapshot
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.plan.pre_upgrade import UpgradeSnapshot, plan_pre_upgrade
from unit.operators.cosmos.observations import observed

VERSIONS = [
    {"height": 0, "image": "old"}, {"height": 100, "image": "v2", "snapshotBefore": "fast"},
]  # fmt: skip
UPGRADES = {f"hub-{at}": {"height": 100, "name": "v2"} for at in range(2)}
STATUS = {"upgradeInfo": UPGRADES, "height": {"hub-0": 100, "hub-1": 100}}


def planned(states: str, *snapshots: VolumeSnapshot, **given: Any) -> UpgradeSnapshot | None:
    given = {"chain": {"versions": VERSIONS}, "status": STATUS, **given}
    return plan_pre_upgrade(replace(observed(states, **given), snapshots=snapshots))


def test_a_volume_is_copied_when_its_pod_is_gone() -> None:
    assert planned("!!") is None
    copy = planned(" !")
    assert copy is not None
    assert copy.pod == "hub-0"
    assert copy.snapshot.metadata.name == "hub-before-100"
    assert copy.snapshot.spec.volume_snapshot_class_name == "fast"
    assert copy.snapshot.spec.source.persistent_volume_claim_name == "pvc-hub-0"
    assert copy.snapshot.metadata.owner_references == ()
    assert copy.event.note == "pvc-hub-0 is copied as hub-before-100 before the upgrade"


def test_a_copy_is_made_once() -> None:
    there = VolumeSnapshot(metadata=ObjectMeta(name="hub-before-100"))
    assert planned(" !", there) is None


def test_nothing_is_copied_without_an_upgrade() -> None:
    assert planned(" +", status={}) is None
