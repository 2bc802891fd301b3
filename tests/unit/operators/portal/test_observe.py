"""What is seen belongs to its PortalExpose, and a change wakes those whom it concerns."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.apps import Deployment
from quintant.api.core import Pod, PodStatus
from quintant.api.meta import Condition, OwnerReference
from quintant.core.object import ObjectMeta, Request, replace
from quintant.operators.portal.api import TunnelClass, TunnelClassSpec
from quintant.operators.portal.builders import EXPOSE_NAME, labels
from quintant.operators.portal.observe import (
    affected,
    class_name,
    expose_of,
    namesake,
    pod_aspects,
    service_key,
)
from unit.operators.portal.observations import deployed, exposing, observed, pod


def held(**meta: Any) -> Deployment:
    return replace(deployed(), metadata=ObjectMeta(name="shop-tunnel", **meta))


OTHER = OwnerReference(kind="PortalExpose", name="shop", uid="other", controller=True)


@pytest.mark.parametrize(
    ("found", "ours"),
    [
        (deployed(), True),
        (held(labels=labels("shop")), True),
        (held(labels={**labels("shop"), "more": "x"}), True),
        (held(labels={"app": "shop"}), False),
        (held(labels=labels("shop"), owner_references=(OTHER,)), False),
        (None, False),
    ],
    ids=["controlled", "labelled", "labelled, and more", "free", "another's", "none"],
)
def test_deployment_is_ours_by_its_controller_or_by_its_labels(
    found: Deployment | None, ours: bool
) -> None:
    assert (observed(existing=found).deployment is not None) is ours


def test_pod_that_only_carries_our_labels_is_not_believed() -> None:
    stranger = replace(pod("s"), metadata=ObjectMeta(name="s", uid="s", labels=labels("shop")))
    seen = observed(pods=(pod("p"), stranger))
    assert [each.metadata.uid for each in seen.living] == ["p"]
    assert seen.ready == 1


def test_pod_on_its_way_out_counts_for_nothing() -> None:
    going = replace(pod("q"), metadata=replace(pod("q").metadata, deletion_timestamp="2026"))
    seen = observed(pods=(pod("p"), going))
    assert (seen.ready, len(seen.tunnels)) == (1, 1)


def test_changes_wake_those_whom_they_concern() -> None:
    expose = exposing()
    assert list(service_key(expose)) == ["store/web"]
    assert list(class_name(expose)) == [""]
    spec = TunnelClassSpec(replicas=1, size="small")
    assert list(affected(TunnelClass(metadata=ObjectMeta(name="big"), spec=spec))) == ["big", ""]


def test_tunnel_wakes_the_portal_expose_of_its_full_name() -> None:
    noted = ObjectMeta(name="p", namespace="store", annotations={EXPOSE_NAME: "shop"})
    assert list(expose_of(Pod(metadata=noted))) == [Request("shop", "store")]
    assert list(expose_of(Pod(metadata=ObjectMeta(name="p")))) == []


def test_deployment_that_goes_wakes_who_wants_its_name() -> None:
    def named(name: str) -> list[Request]:
        return list(namesake(Deployment(metadata=ObjectMeta(name=name, namespace="store"))))

    assert named("shop-tunnel") == [Request("shop", "store")]
    assert named("web") == []


@pytest.mark.parametrize(
    ("status", "matters"),
    [
        ({"pod_ip": "10.0.0.1"}, True),
        ({"conditions": (Condition(type="Ready", status="True"),)}, True),
        ({"conditions": (Condition(type="PodScheduled", status="False", reason="x"),)}, True),
        ({"conditions": (Condition(type="Initialized", status="True"),)}, False),
        ({"host_ip": "10.0.0.2"}, False),
    ],
    ids=str,
)
def test_only_what_is_told_or_needed_of_a_pod_wakes(status: dict[str, Any], matters: bool) -> None:
    bare, changed = Pod(), Pod(status=PodStatus(**status))
    assert (pod_aspects(bare) != pod_aspects(changed)) is matters
