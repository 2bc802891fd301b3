"""Strategic merge patches, on the embedded server and by themselves."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.go_types import message
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.patch.strategic_patch import strategic_patch
from unit.cluster.api import CMS, CRDS, FOOS, api, config_map, foo, foo_definition
from unit.cluster.strategic_cases import CASES, Case, deployment

STRATEGIC = "application/strategic-merge-patch+json"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
POD = message("core.v1.Pod")
JsonObject = dict[str, Any]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_the_embedded_server_patches_as_the_table_says(case: Case) -> None:
    client = api()
    await client.create(case.path, case.object)
    reply = await client.send("PATCH", case.url, case.patch, media=STRATEGIC)
    case.check(reply.status, msgspec.json.decode(reply.body))


async def test_custom_resources_cannot_be_patched_so() -> None:
    client = api()
    await client.create(CRDS, foo_definition())
    await client.create(FOOS, foo("a"))
    refusal = await client.ask("PATCH", f"{FOOS}/a", {}, 415, media=STRATEGIC)
    assert refusal["message"] == (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )


async def test_a_scale_can_be_patched_so() -> None:
    client = api()
    await client.create(DEPLOYMENTS, {"metadata": {"name": "d"}, **deployment()})
    path = f"{DEPLOYMENTS}/d"
    scale = await client.ask(
        "PATCH", f"{path}/scale", {"spec": {"replicas": 5}}, 200, media=STRATEGIC
    )
    assert (scale["kind"], scale["spec"]) == ("Scale", {"replicas": 5})
    assert (await client.get(path))["spec"]["replicas"] == 5


async def test_a_resource_version_in_the_patch_is_a_lock() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    stale = {"metadata": {"resourceVersion": "1"}, "data": {"a": "b"}}
    await client.ask("PATCH", f"{CMS}/a", stale, 409, media=STRATEGIC)


NAMES = st.sampled_from("abcd")
ENTRIES = st.dictionaries(NAMES, st.sampled_from(["1", "2"]), max_size=3)
CONTAINERS = st.dictionaries(NAMES, ENTRIES, min_size=1, max_size=4).map(
    lambda found: [
        {"name": name, "env": [{"name": key, "value": value} for key, value in env.items()]}
        for name, env in found.items()
    ]
)
PODS = st.builds(
    lambda containers, labels: {"metadata": {"labels": labels}, "spec": {"containers": containers}},
    CONTAINERS,
    ENTRIES,
)


@given(PODS, PODS)
def test_a_patch_without_directives_is_in_the_result(live: JsonObject, patch: JsonObject) -> None:
    merged = strategic_patch(live, patch, POD)
    before, after, wanted = by_name(live), by_name(merged), by_name(patch)
    assert after.keys() == before.keys() | wanted.keys()
    for name, env in after.items():
        assert env == before.get(name, {}) | wanted.get(name, {})
    labels = live["metadata"]["labels"] | patch["metadata"]["labels"]
    assert merged["metadata"]["labels"] == labels


@given(PODS, PODS)
def test_patching_twice_is_patching_once(live: JsonObject, patch: JsonObject) -> None:
    once = strategic_patch(live, patch, POD)
    assert strategic_patch(once, patch, POD) == once


@given(PODS, PODS)
def test_an_order_is_kept(live: JsonObject, patch: JsonObject) -> None:
    names = list(by_name(live) | by_name(patch))
    names.sort(reverse=True)
    order = [{"name": name} for name in names]
    present = sorted(patch["spec"]["containers"], key=lambda each: names.index(each["name"]))
    spec = {"containers": present, "$setElementOrder/containers": order}
    merged = strategic_patch(live, {"spec": spec}, POD)
    assert [each["name"] for each in merged["spec"]["containers"]] == names


def by_name(pod: JsonObject) -> dict[str, dict[str, str]]:
    return {
        each["name"]: {entry["name"]: entry["value"] for entry in each["env"]}
        for each in pod["spec"]["containers"]
    }


DIRECTIVES = st.sampled_from(
    [
        *("$patch", "$retainKeys", "$setElementOrder", "$setElementOrder/containers"),
        *("$setElementOrder/finalizers", "$deleteFromPrimitiveList/finalizers"),
        *("$deleteFromPrimitiveList/containers", "metadata", "spec", "containers", "finalizers"),
        *("labels", "name", "env", "ports", "volumes", "nope"),
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "replace", "delete"]),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(DIRECTIVES, below, max_size=3),
    max_leaves=12,
)


@given(PODS, st.dictionaries(DIRECTIVES, ANYTHING, max_size=4))
def test_any_patch_merges_or_is_refused_and_nothing_given_changes(
    live: JsonObject, patch: JsonObject
) -> None:
    given_live, given_patch = deepcopy(live), deepcopy(patch)
    with suppress(StatusError):
        strategic_patch(live, patch, POD)
    assert (live, patch) == (given_live, given_patch)
