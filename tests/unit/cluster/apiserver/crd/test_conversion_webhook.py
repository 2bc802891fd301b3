"""Versions of a kind that a webhook converts, without sockets and in virtual time."""

from __future__ import annotations

from typing import Any

import pytest

from quintant import Custom, Manager, Model, resource
from quintant.core.errors import ApiError
from quintant.runtime.manager.engine import Engine
from quintant.runtime.webhook import Admission, Plain, Spoke, Verdict
from quintant.testing import InProcessCluster, named
from unit.cluster.api import CRDS, Api

GATES = "/apis/gates.test/{}/namespaces/default/gates"


class GateSpec(Model):
    host: str = ""


@resource(group="gates.test", version="v1")
class Gate(Custom[GateSpec, None]):
    """A gate; at v1alpha1 its host was called name."""


def up(obj: Plain) -> Plain:
    obj["spec"]["host"] = obj["spec"].pop("name", "")
    return obj


def down(obj: Plain) -> Plain:
    obj["spec"]["name"] = obj["spec"].pop("host", "")
    return obj


class Asked:
    """A conversion that counts, and a validator that notes the version it sees."""

    def __init__(self) -> None:
        self.downs = 0
        self.seen: list[str] = []

    def down(self, obj: Plain) -> Plain:
        self.downs += 1
        return down(obj)

    async def judge(self, old: Gate | None, new: Gate | None, admission: Admission) -> Verdict:
        self.seen.append(new.spec.host if new else "")
        return None


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
async def engine(cluster: InProcessCluster, asked: Asked) -> Engine:
    await Api(cluster.server).create(CRDS, definition())
    manager = Manager("gates")
    manager.webhooks.converting(Gate, {"v1alpha1": Spoke(to_hub=up, from_hub=asked.down)})
    manager.webhooks.validating(Gate, asked.judge)
    return await cluster.run(manager)


@pytest.fixture
def api(cluster: InProcessCluster, engine: Engine) -> Api:
    return Api(cluster.server)


def definition() -> dict[str, Any]:
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    versions = [
        {"name": name, "served": True, "storage": name == "v1", "schema": schema}
        for name in ("v1", "v1alpha1")
    ]
    names = {"plural": "gates", "singular": "gate", "kind": "Gate", "listKind": "GateList"}
    content = {"group": "gates.test", "scope": "Namespaced", "names": names, "versions": versions}
    return {"metadata": {"name": "gates.gates.test"}, "spec": content}


def gate(name: str, version: str, /, **spec: Any) -> dict[str, Any]:
    head = {"apiVersion": f"gates.test/{version}", "kind": "Gate"}
    return {**head, "metadata": {"name": name}, "spec": spec}


def path(version: str, name: str = "") -> str:
    where = GATES.format(version)
    return f"{where}/{name}" if name else where


async def test_an_object_is_one_at_all_versions(api: Api) -> None:
    old = await api.create(path("v1alpha1"), gate("a", "v1alpha1", name="north", more=1))
    assert old["spec"] == {"name": "north", "more": 1}
    new = await api.get(path("v1", "a"))
    assert new["spec"] == {"host": "north", "more": 1}
    assert new["metadata"]["resourceVersion"] == old["metadata"]["resourceVersion"]


async def test_a_list_is_converted_by_one_review_and_remembered(api: Api, asked: Asked) -> None:
    for at in range(5):
        await api.create(path("v1"), gate(f"g{at}", "v1", host=f"h{at}"))
    for _ in range(2):
        listed = await api.get(path("v1alpha1"))
        assert [item["spec"]["name"] for item in listed["items"]] == [f"h{at}" for at in range(5)]
    assert asked.downs == 5


async def test_pages_convert_no_more_than_they_show(api: Api, asked: Asked) -> None:
    for at in range(5):
        await api.create(path("v1"), gate(f"g{at}", "v1", host=f"h{at}"))
    await api.get(path("v1alpha1"), limit="2")
    assert asked.downs == 2


async def test_a_watch_is_converted_as_it_goes_on(api: Api) -> None:
    await api.create(path("v1"), gate("a", "v1", host="x"))
    async with api.watch(path("v1alpha1")) as events:
        assert (await events.next())["object"]["spec"] == {"name": "x"}
        await api.merge(path("v1", "a"), {"spec": {"host": "y"}})
        changed = await events.next()
        assert (changed["type"], changed["object"]["spec"]) == ("MODIFIED", {"name": "y"})
        await api.delete(path("v1alpha1", "a"))
        gone = await events.next()
        assert (gone["type"], gone["object"]["spec"]) == ("DELETED", {"name": "y"})


async def test_a_watch_resumes_where_it_was(api: Api) -> None:
    made = await api.create(path("v1"), gate("a", "v1", host="x"))
    await api.merge(path("v1", "a"), {"spec": {"host": "y"}})
    since = made["metadata"]["resourceVersion"]
    async with api.watch(path("v1alpha1"), resourceVersion=since) as events:
        assert (await events.next())["object"]["spec"] == {"name": "y"}


async def test_admission_sees_the_version_it_asked_for(api: Api, asked: Asked) -> None:
    await api.create(path("v1alpha1"), gate("a", "v1alpha1", name="north"))
    await api.merge(path("v1alpha1", "a"), {"spec": {"name": "south"}})
    assert asked.seen == ["north", "south"]


async def test_only_metadata_can_be_shown_too(api: Api) -> None:
    await api.create(path("v1"), gate("a", "v1", host="x"))
    accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    found = await api.get(path("v1alpha1", "a"), headers={"accept": accept})
    assert (found["kind"], found["metadata"]["name"]) == ("PartialObjectMetadata", "a")


async def test_a_stopped_webhook_is_told_of(
    cluster: InProcessCluster, api: Api, engine: Engine
) -> None:
    await api.create(path("v1"), gate("a", "v1", host="x"))
    await cluster.stop(engine)
    told = await api.get(path("v1alpha1", "a"), code=500)
    assert told["message"].startswith("conversion webhook for gates.test/v1, Kind=Gate failed: ")
    async with api.watch(path("v1alpha1")) as events:
        assert (await events.next())["type"] == "ERROR"
    with pytest.raises(ApiError, match="connection refused"):
        await cluster.client.create(Gate(metadata=named("b"), spec=GateSpec()))
