"""What objects of the built-in kinds can be selected by."""

from __future__ import annotations

import pytest

from quintant.cluster.apiserver.registry.field_labels import field_labels_of
from quintant.core.resource import Resource
from unit.cluster.api import CMS, PODS, api, pod

JOBS = "/apis/batch/v1/namespaces/default/jobs"
EVENTS = (Resource("", "v1", "Event", "events"), Resource("events.k8s.io", "v1", "Event", "events"))


async def test_objects_are_selected_by_field() -> None:
    client = api()
    await client.create(PODS, pod("a", node="n1"))
    await client.create(PODS, pod("b"))
    await client.merge(f"{PODS}/a/status", {"status": {"phase": "Running"}})
    assert await client.names(PODS, fieldSelector="spec.nodeName=n1") == ["a"]
    assert await client.names(PODS, fieldSelector="spec.nodeName=") == ["b"]
    assert await client.names(PODS, fieldSelector="status.phase!=Running") == ["b"]
    assert await client.names(PODS, fieldSelector="metadata.name=b") == ["b"]
    assert await client.names("/api/v1/pods", fieldSelector="metadata.namespace=x") == []
    refused = await client.get(PODS, code=400, fieldSelector="spec.color=red")
    assert refused["message"] == "field label not supported: spec.color"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (PODS, "field label not supported: spec.color"),
        (JOBS, 'field label "spec.color" not supported for Job'),
        (
            CMS,
            '"spec.color" is not a known field selector: only "metadata.name", '
            '"metadata.namespace"',
        ),
    ],
)
async def test_a_field_that_nobody_selects_by_is_refused_in_the_words_of_its_kind(
    path: str, message: str
) -> None:
    refused = await api().get(path, code=400, fieldSelector="spec.color=red")
    assert refused["message"] == message


def test_whatever_can_be_selected_by_is_remembered() -> None:
    for where in EVENTS:
        labels = field_labels_of(where)
        assert set(labels.paths.values()) <= labels.values.keys()


def test_a_group_that_names_fields_otherwise_has_names_of_its_own() -> None:
    core, group = (field_labels_of(where).paths for where in EVENTS)
    assert group["regarding.name"] == core["involvedObject.name"]
    assert "involvedObject.name" not in group
