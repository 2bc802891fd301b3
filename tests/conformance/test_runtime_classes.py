"""What pods get from the RuntimeClass that they name, and which of them are refused."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from conformance.kinds import POD, POD_SPEC
from conformance.target import Target, until
from unit.cluster.api import JsonObject

CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
DEDICATED = {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}
MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
ALONE = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


class Classes:
    """RuntimeClasses of a check, which are gone after it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.names = list[str]()

    async def create(self, **content: JsonObject) -> str:
        """A class that pods can name: a real server hears of it a bit later."""
        name = f"c{len(self.names)}.{self.target.namespace}"
        await self.target.create(
            CLASSES, {"metadata": {"name": name}, "handler": "none", **content}
        )
        self.names.append(name)

        async def overhead() -> JsonObject | None:
            found: JsonObject = (await self.dry_run(name))["spec"]
            return found.get("overhead")

        wanted = content.get("overhead", {}).get("podFixed")
        assert await until(overhead, lambda found: found == wanted) == wanted
        return name

    async def dry_run(self, name: str) -> JsonObject:
        return await self.target.create(
            POD.path(self.target), pod(runtimeClassName=name), dryRun="All"
        )


@pytest_asyncio.fixture
async def classes(target: Target) -> AsyncIterator[Classes]:
    found = Classes(target)
    yield found
    for name in found.names:
        await target.delete(f"{CLASSES}/{name}")


def pod(**spec: object) -> JsonObject:
    return {**POD.object("a"), "spec": {**POD_SPEC, **spec}}


async def refused(target: Target, **spec: object) -> str:
    told = await target.create(POD.path(target), pod(**spec), code=403)
    return str(told["message"]).removeprefix('pods "a" is forbidden: ')


async def test_a_pod_of_a_class_that_is_not_there_is_refused(target: Target) -> None:
    why = await refused(target, runtimeClassName="nope")
    assert why == 'pod rejected: RuntimeClass "nope" not found'


async def test_a_pod_gets_the_overhead_of_its_class(target: Target, classes: Classes) -> None:
    name = await classes.create(overhead={"podFixed": {"cpu": "10m", "memory": "1Mi"}})
    made = await target.create(POD.path(target), pod(runtimeClassName=name))
    assert made["spec"]["overhead"] == {"cpu": "10m", "memory": "1Mi"}


async def test_overhead_that_is_written_otherwise_is_the_same(
    target: Target, classes: Classes
) -> None:
    name = await classes.create(overhead={"podFixed": {"cpu": "1"}})
    spec = pod(runtimeClassName=name, overhead={"cpu": "1000m"})
    made = await target.create(POD.path(target), spec)
    assert made["spec"]["overhead"] == {"cpu": "1"}


async def test_other_overhead_than_that_of_the_class_is_refused(
    target: Target, classes: Classes
) -> None:
    name = await classes.create(overhead={"podFixed": {"cpu": "1"}})
    why = await refused(target, runtimeClassName=name, overhead={"cpu": "2"})
    assert why == MISMATCH


async def test_overhead_needs_a_class_that_has_some(target: Target, classes: Classes) -> None:
    name = await classes.create()
    assert await refused(target, runtimeClassName=name, overhead={"cpu": "1"}) == ALONE
    assert await refused(target, overhead={"cpu": "1"}) == ALONE


async def test_a_pod_of_a_class_is_for_the_nodes_of_the_class(
    target: Target, classes: Classes
) -> None:
    name = await classes.create(
        scheduling={"nodeSelector": {"a": "1", "b": "2"}, "tolerations": [DEDICATED]}
    )
    body = pod(runtimeClassName=name, nodeSelector={"b": "2", "c": "3"})
    spec = (await target.create(POD.path(target), body))["spec"]
    assert spec["nodeSelector"] == {"a": "1", "b": "2", "c": "3"}
    assert spec["tolerations"][-1] == DEDICATED
    assert len(spec["tolerations"]) == 3


async def test_a_pod_of_other_nodes_than_its_class_is_refused(
    target: Target, classes: Classes
) -> None:
    name = await classes.create(scheduling={"nodeSelector": {"a": "1"}})
    why = await refused(target, runtimeClassName=name, nodeSelector={"a": "2"})
    assert why == (
        "conflict: runtimeClass.scheduling.nodeSelector[a] = 1; pod.spec.nodeSelector[a] = 2"
    )


@pytest.mark.parametrize(
    ("own", "of_the_class", "merged"),
    [
        # Equal to it, and so once; a wider one in place of a narrower one, whichever comes first.
        ([DEDICATED], [DEDICATED], [DEDICATED]),
        (
            [{"key": "dedicated", "operator": "Equal", "value": "x", "effect": "NoSchedule"}],
            [DEDICATED],
            [DEDICATED],
        ),
        ([{"operator": "Exists"}], [DEDICATED], [{"operator": "Exists"}]),
        (
            [{**DEDICATED, "effect": "NoExecute", "tolerationSeconds": 9}],
            [{**DEDICATED, "effect": "NoExecute", "tolerationSeconds": 5}],
            [{**DEDICATED, "effect": "NoExecute", "tolerationSeconds": 9}],
        ),
        (
            [{**DEDICATED, "effect": "NoExecute", "tolerationSeconds": 5}],
            [{**DEDICATED, "effect": "NoExecute"}],
            [{**DEDICATED, "effect": "NoExecute"}],
        ),
        (
            [{"key": "x", "operator": "Equal", "value": "1", "effect": "NoSchedule"}],
            [{"key": "x", "operator": "Equal", "value": "2", "effect": "NoSchedule"}],
            [
                {"key": "x", "operator": "Equal", "value": "1", "effect": "NoSchedule"},
                {"key": "x", "operator": "Equal", "value": "2", "effect": "NoSchedule"},
            ],
        ),
    ],
)
async def test_tolerations_that_include_each_other_are_one(
    target: Target,
    classes: Classes,
    own: list[JsonObject],
    of_the_class: list[JsonObject],
    merged: list[JsonObject],
) -> None:
    name = await classes.create(scheduling={"tolerations": of_the_class})
    body = pod(runtimeClassName=name, tolerations=own)
    spec = (await target.create(POD.path(target), body))["spec"]
    added = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    assert [each for each in spec["tolerations"] if each.get("key") not in added] == merged


async def test_a_pod_outlives_its_class(target: Target, classes: Classes) -> None:
    name = await classes.create(overhead={"podFixed": {"cpu": "1"}})
    await target.create(POD.path(target), pod(runtimeClassName=name))
    await target.delete(f"{CLASSES}/{classes.names.pop()}")
    changed = await target.merge(POD.path(target, "a"), {"metadata": {"labels": {"x": "1"}}})
    assert changed["spec"]["overhead"] == {"cpu": "1"}
