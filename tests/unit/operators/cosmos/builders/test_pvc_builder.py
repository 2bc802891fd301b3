"""Volumes are as large as asked for, never smaller than they are, and filled once."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.quantity import Quantity
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotStatus
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.builders.pvc_builder import (
    SourceCandidates,
    VolumeSource,
    build_claim,
    choose_source,
    claim_template,
)
from quintant.runtime.apply import revision
from unit.operators.cosmos.full_nodes import bound_claim, full_node, instance


def test_a_claim_is_the_templates() -> None:
    of = full_node()
    claim = build_claim(of, instance(of), None)
    assert claim is not None
    assert claim.metadata.name == "pvc-hub-0"
    assert claim.spec.access_modes == ("ReadWriteOnce",)
    assert claim.spec.volume_mode == "Filesystem"
    assert claim.spec.storage_class_name == "standard"
    assert claim.spec.resources.requests["storage"] == "100Gi"


def snapshot(
    name: str, at: str, ready: bool = True, size: str | None = "250Gi", **labels: str
) -> VolumeSnapshot:
    restore = Quantity(size) if size else None
    status = VolumeSnapshotStatus(creation_time=at, ready_to_use=ready, restore_size=restore)
    return VolumeSnapshot(metadata=ObjectMeta(name=name, labels=labels), status=status)


def chosen(source: dict[str, Any], *snapshots: VolumeSnapshot, **found: Any) -> VolumeSource:
    of = full_node(claim=source)
    there = SourceCandidates(snapshots, found.get("claims", {}))
    return choose_source(claim_template(of, instance(of)), instance(of), there)


EXPLICIT = {
    "dataSource": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}
}


def test_a_source_that_is_larger_makes_the_volume_so() -> None:
    source = chosen(EXPLICIT, snapshot("s", "1"))
    of = full_node(claim=EXPLICIT)
    claim = build_claim(of, instance(of), None, source)
    assert claim is not None
    assert claim.spec.resources.requests["storage"] == "250Gi"
    assert claim.spec.data_source is not None
    assert claim.spec.data_source.name == "s"
    plain = build_claim(of, instance(of), bound_claim("250Gi"))
    assert plain is not None
    assert plain.spec.data_source is None
    assert revision(plain, MARK) == revision(claim, MARK)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (EXPLICIT, "DataSourceGetSnapshot"),
        ({"dataSource": {"kind": "PersistentVolumeClaim", "name": "p"}}, "DataSourceGetPVC"),
        ({"dataSource": {"kind": "Bucket", "name": "b", "apiGroup": "x"}}, "DataSourceUnsupported"),
        ({"autoDataSource": {"volumeSnapshotSelector": {"a": "b"}}}, "AutoDataSourceFindSnapshot"),
    ],
)
def test_a_source_that_is_missing_is_told_and_the_volume_begins_empty(
    source: dict[str, Any], reason: str
) -> None:
    found = chosen(source)
    assert found.data_source is None
    assert found.event is not None
    assert (found.event.type, found.event.reason) == ("Warning", reason)


def test_a_snapshot_without_a_size_is_no_source() -> None:
    assert chosen(EXPLICIT, snapshot("s", "1", size=None)).data_source is None


def test_a_claim_is_a_source_of_its_own_size() -> None:
    source = {"dataSource": {"kind": "PersistentVolumeClaim", "name": "p"}}
    found = chosen(source, claims={"p": bound_claim("300Gi", "p")})
    assert found.size == "300Gi"


def test_the_newest_snapshot_that_is_ready_is_chosen() -> None:
    auto = {"autoDataSource": {"volumeSnapshotSelector": {"a": "b"}}}
    old, new = (
        snapshot("old", "2026-01-01T00:00:00Z", a="b"),
        snapshot("new", "2026-01-02T00:00:00Z", a="b"),
    )
    other = snapshot("other", "2026-01-09T00:00:00Z", a="c")
    unready = snapshot("unready", "2026-01-09T00:00:00Z", ready=False, a="b")
    found = chosen(auto, new, old, other, unready)
    assert found.data_source is not None
    assert found.data_source.name == "new"
    assert found.event is not None
    assert found.event.reason == "AutoDataSource"


def test_a_snapshot_of_the_same_instance_may_be_asked_for() -> None:
    auto = {"autoDataSource": {"volumeSnapshotSelector": {}, "matchInstance": True}}
    mine = snapshot("mine", "1", True, "250Gi", **{"app.kubernetes.io/instance": "hub-0"})
    other = snapshot("other", "2", True, "250Gi", **{"app.kubernetes.io/instance": "hub-1"})
    found = chosen(auto, other, mine)
    assert found.data_source is not None
    assert found.data_source.name == "mine"


def test_an_override_without_a_size_has_the_common_one() -> None:
    own = {"resources": {"requests": {"storage": "5Gi"}}}
    given = {"hub-0": {"volumeClaimTemplate": own}, "hub-1": {"volumeClaimTemplate": {}},
             "hub-2": {"disable": "All"}}  # fmt: skip
    of = full_node(instanceOverrides=given)
    built = [build_claim(of, instance(of, at), None) for at in range(3)]
    sizes = [str(each.spec.resources.requests["storage"]) if each else None for each in built]
    assert sizes == ["5Gi", "100Gi", None]


def test_an_override_stands_instead_of_the_template_as_in_the_original() -> None:
    """Class and size, which the original does not let be left out, are then the common ones."""
    common = {
        "metadata": {"labels": {"a": "common"}}, "accessModes": ["ReadWriteMany"],
        "autoDataSource": {"volumeSnapshotSelector": {"a": "b"}}, "volumeMode": "Block",
    }  # fmt: skip
    own = {"metadata": {"labels": {"b": "own"}}}
    of = full_node(claim=common, instanceOverrides={"hub-0": {"volumeClaimTemplate": own}})
    template, other = (claim_template(of, instance(of, at)) for at in range(2))
    assert (template.metadata.labels, template.access_modes) == ({"b": "own"}, ())
    assert (template.auto_data_source, template.volume_mode) == (None, None)
    assert template.storage_class_name == other.storage_class_name
    assert template.resources == other.resources
    assert other == of.spec.volume_claim_template
