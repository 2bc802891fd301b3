"""Lists: pages, revisions and selectors."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from conformance.kinds import POD
from conformance.target import Target, causes, decoded
from unit.cluster.api import config_map

NAMES = [f"c{at}" for at in range(5)]
OURS = "metadata.name!=kube-root-ca.crt"
"""Without what a cluster puts into every namespace."""


@pytest.fixture
async def filled(target: Target) -> Target:
    for name in NAMES:
        body = config_map(name, {"k": name}, labels={"odd": str(int(name[1]) % 2)})
        await target.create(target.path("configmaps"), body)
    return target


async def test_pages_are_exact_and_of_one_moment(filled: Target) -> None:
    path = filled.path("configmaps")
    first = await filled.get(path, limit="2")
    await filled.create(path, config_map("c9"))
    await filled.delete(f"{path}/c3")
    token = first["metadata"]["continue"]
    second = await filled.get(path, **{"limit": "2", "continue": token})
    third = await filled.get(path, **{"limit": "2", "continue": second["metadata"]["continue"]})
    pages = (first, second, third)
    assert [item["metadata"]["name"] for page in pages for item in page["items"]] == NAMES
    assert [page["metadata"].get("remainingItemCount") for page in pages] == [3, 1, None]
    assert len({page["metadata"]["resourceVersion"] for page in pages}) == 1
    assert "continue" not in third["metadata"]


async def test_a_selector_leaves_the_rest_uncounted(filled: Target) -> None:
    query = {"limit": "1", "labelSelector": "odd=0"}
    page = await filled.ask("GET", filled.path("configmaps"), None, 200, **query)
    assert [item["metadata"]["name"] for item in page["items"]] == ["c0"]
    assert page["metadata"]["continue"]
    assert "remainingItemCount" not in page["metadata"]


@pytest.mark.parametrize(
    "query",
    [
        {"resourceVersionMatch": "Exact"},
        {"resourceVersionMatch": "NotOlderThan"},
        {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
        {"resourceVersionMatch": "Sideways", "resourceVersion": "1"},
        {"sendInitialEvents": "true"},
    ],
    ids=lambda query: "-".join(query.values()),
)
async def test_options_that_contradict_each_other(target: Target, query: dict[str, str]) -> None:
    refused = await target.ask("GET", target.path("configmaps"), None, 422, **query)
    assert refused["reason"] == "Invalid"
    assert causes(refused)


@pytest.mark.parametrize("query", [{"continue": "no"}, {"resourceVersion": "no"}], ids=str)
async def test_options_that_make_no_sense(target: Target, query: dict[str, str]) -> None:
    refused = await target.ask("GET", target.path("configmaps"), None, 400, **query)
    assert refused["reason"] == "BadRequest"


LIMITS, MATCHES = ("", "2", "0"), ("", "Exact", "NotOlderThan", "Sideways")
TOKENS, VERSIONS = ("", "good", "bad"), ("", "0", "old", "new", "no", "-1")


def expected(limit: str, token: str, version: str, match: str) -> tuple[int, str]:
    """How a list with these options ends, and the beginning of why; what a real server said."""
    if match and not version:
        return 422, "resourceVersionMatch is forbidden unless resourceVersion is provided"
    if match and token:
        return 422, "resourceVersionMatch is forbidden when continue is provided"
    if match not in ("", "Exact", "NotOlderThan"):
        return 422, "Unsupported value"
    if match == "Exact" and version == "0":
        return 422, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
    if token == "bad":
        return 400, "invalid continue token"
    if token and version not in ("", "0"):
        return 400, "specifying resource version is not allowed when using continue"
    if version in ("no", "-1"):
        return 400, "invalid resource version"
    exact = match == "Exact" or (limit == "2" and not match)
    before = token == "good" or (version == "old" and exact)
    names = NAMES if before else [*NAMES, "late"]
    if token == "good":
        names = names[2:]
    return 200, ",".join(names[:2] if limit == "2" and version != "0" else names)


async def test_every_combination_of_options(filled: Target) -> None:
    path = filled.path("configmaps")
    page = await filled.get(path, limit="2", fieldSelector=OURS)
    old = page["metadata"]["resourceVersion"]
    await filled.create(path, config_map("late"))
    new = (await filled.get(path))["metadata"]["resourceVersion"]
    tokens = {"good": page["metadata"]["continue"], "bad": "bad"}
    versions = {"old": old, "new": new}
    for limit, token, version, match in product(LIMITS, TOKENS, VERSIONS, MATCHES):
        options = {
            "limit": limit,
            "continue": tokens.get(token, ""),
            "resourceVersion": versions.get(version, version),
            "resourceVersionMatch": match,
        }
        query: Any = {key: value for key, value in options.items() if value}
        reply = await filled.send("GET", path, fieldSelector=OURS, **query)
        code, why = expected(limit, token, version, match)
        assert reply.status == code, (options, reply.body)
        found = decoded(reply.body)
        if code == 200:
            assert ",".join(item["metadata"]["name"] for item in found["items"]) == why, options
        else:
            assert why in found["message"], (options, found["message"])


async def test_a_list_of_an_exact_moment(filled: Target) -> None:
    path, then = filled.path("configmaps"), await filled.revision()
    await filled.delete(f"{path}/c0")
    exact = {"resourceVersion": then, "resourceVersionMatch": "Exact"}
    old = await filled.ask("GET", path, None, 200, **exact)
    assert len(old["items"]) == len(NAMES)
    assert old["metadata"]["resourceVersion"] == then
    fresh = {"resourceVersion": then, "resourceVersionMatch": "NotOlderThan"}
    assert len((await filled.ask("GET", path, None, 200, **fresh))["items"]) == len(NAMES) - 1


async def test_any_revision_is_good_enough_for_zero(filled: Target) -> None:
    await filled.get(filled.path("configmaps"))
    found = await filled.get(filled.path("configmaps"), resourceVersion="0", limit="2")
    assert found["items"]
    assert "continue" not in found["metadata"]


async def test_a_revision_of_the_future(target: Target) -> None:
    future = str(int(await target.revision()) + 10**6)
    answer = await target.ask("GET", target.path("configmaps"), None, 504, resourceVersion=future)
    assert answer["reason"] == "Timeout"
    assert causes(answer) == [("", "ResourceVersionTooLarge")]
    assert answer["details"]["retryAfterSeconds"] == 1


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("odd=1", ["c1", "c3"]),
        ("odd==1", ["c1", "c3"]),
        ("odd!=1", ["c0", "c2", "c4"]),
        ("odd in (0,2)", ["c0", "c2", "c4"]),
        ("odd notin (0)", ["c1", "c3"]),
        ("odd", NAMES),
        ("!odd", []),
        ("no!=1", NAMES),
        ("odd=1,odd!=0", ["c1", "c3"]),
    ],
)
async def test_label_selectors(filled: Target, selector: str, names: list[str]) -> None:
    path = filled.path("configmaps")
    assert await filled.names(path, labelSelector=selector, fieldSelector="") == names


@pytest.mark.parametrize("selector", ["a in", "a=b=c", "=b", "a in (b"])
async def test_label_selectors_that_make_no_sense(target: Target, selector: str) -> None:
    await target.get(target.path("configmaps"), code=400, labelSelector=selector)


async def test_field_selectors(filled: Target) -> None:
    path = filled.path("configmaps")
    assert await filled.names(path, fieldSelector="metadata.name=c1") == ["c1"]
    assert await filled.names(path, fieldSelector="metadata.name!=c1") == ["c0", "c2", "c3", "c4"]
    refused = await filled.get(path, code=400, fieldSelector="data.k=c1")
    assert '"data.k" is not a known field selector' in refused["message"]
    await filled.create(POD.path(filled), POD.object("p"))
    assert await filled.names(POD.path(filled), fieldSelector="status.phase=Pending") == ["p"]
    assert await filled.names(POD.path(filled), fieldSelector="spec.nodeName=n") == []


async def test_custom_resources_of_all_namespaces(target: Target) -> None:
    foos = await target.define()
    other = f"{target.namespace}-b"
    await target.create("/api/v1/namespaces", {"metadata": {"name": other}})
    elsewhere = target.elsewhere(other, "foos", "", foos.api)
    everywhere = target.elsewhere("", "foos", "", foos.api)
    await target.create(foos.path(), foos.object("same"))
    await target.create(elsewhere, foos.object("same"))
    items = (await target.get(everywhere))["items"]
    # In the order of their keys, namespace/name: "-" comes before "/".
    assert [item["metadata"]["namespace"] for item in items] == [other, target.namespace]
    async with target.watch(everywhere, resourceVersion="0") as events:
        assert [await events.told(5) for _ in range(2)] == [("ADDED", "same")] * 2
