"""Namespaces: how they go, what holds them, and what each of them has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from conformance.controller_cluster import ControllerCluster
from conformance.kubelet import LINGERING, READY
from conformance.target import Target, causes, until
from conformance.workloads import daemon_set
from unit.cluster.api import JsonObject, config_map, pod

SPACES = "/api/v1/namespaces"
HELD = "check.example.com/held"
FINE = {
    "NamespaceDeletionDiscoveryFailure": "All resources successfully discovered",
    "NamespaceDeletionGroupVersionParsingFailure": "All legacy kube types successfully parsed",
    "NamespaceDeletionContentFailure": (
        "All content successfully deleted, may be waiting on finalization"
    ),
    "NamespaceContentRemaining": "All content successfully removed",
    "NamespaceFinalizersRemaining": "All content-preserving finalizers finished",
}


class Space:
    """A namespace that a check may do anything to."""

    def __init__(self, cluster: ControllerCluster) -> None:
        self.cluster = cluster
        self.name = f"{cluster.namespace}-x"
        self.path = f"{SPACES}/{self.name}"

    def inside(self, plural: str, name: str = "", api: str = "v1") -> str:
        return self.cluster.elsewhere(self.name, plural, name, api)

    async def get(self) -> JsonObject:
        return await self.cluster.get(self.path)

    async def until_gone(self) -> None:
        async def gone() -> bool:
            return (await self.cluster.send("GET", self.path)).status == 404

        assert await until(gone) or await until(gone), await self.get()

    async def conditions(self) -> dict[str, tuple[str, str]]:
        found = (await self.get())["status"].get("conditions") or []
        return {each["type"]: (each["status"], each["message"]) for each in found}


@pytest_asyncio.fixture
async def space(cluster: ControllerCluster) -> AsyncIterator[Space]:
    made = Space(cluster)
    await cluster.create(SPACES, {"metadata": {"name": made.name}})
    yield made
    await cluster.send("DELETE", made.path)


async def test_everything_in_a_namespace_goes_with_it(space: Space) -> None:
    service: dict[str, Any] = {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}
    await space.cluster.create(space.inside("services"), service)
    await space.cluster.create(space.inside("configmaps"), config_map("a"))
    marked = await space.cluster.delete(space.path)
    assert marked["status"]["phase"] == "Terminating"
    assert "deletionGracePeriodSeconds" not in marked["metadata"]
    await space.until_gone()
    for plural in ("services", "configmaps", "serviceaccounts"):
        assert (await space.cluster.get(space.inside(plural)))["items"] == []


async def test_a_namespace_goes_with_its_daemons(space: Space) -> None:
    path = space.inside("daemonsets", api="apps/v1")
    for name in "abc":
        await space.cluster.create(path, daemon_set(name))
    await space.cluster.delete(space.path)
    await space.until_gone()
    assert (await space.cluster.get(path))["items"] == []


async def test_pods_go_first(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(LINGERING)
    await cluster.create(cluster.path("pods"), pod("p"))
    await cluster.until("pods", "p", lambda it: it["status"].get("phase") == "Running")
    await cluster.create(cluster.path("configmaps"), config_map("a"))
    await cluster.delete(f"{SPACES}/{cluster.namespace}")
    await cluster.until("pods", "p", lambda it: "deletionTimestamp" in it["metadata"])
    await cluster.quiet("pods")
    await cluster.get(cluster.path("configmaps", "a"))
    cluster.kubelet.let(READY)
    await cluster.until_gone("configmaps", "a")


async def test_nothing_is_made_in_a_namespace_that_is_going(space: Space) -> None:
    path = space.inside("configmaps")
    await space.cluster.create(path, config_map("a", finalizers=[HELD]))
    await space.cluster.delete(space.path)
    refused = await space.cluster.create(path, config_map("b"), code=403)
    assert causes(refused) == [("metadata.namespace", "NamespaceTerminating")]
    await space.cluster.merge(f"{path}/a", {"metadata": {"finalizers": None}})
    await space.until_gone()


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_some_namespaces_stay(target: Target, name: str) -> None:
    refused = await target.delete(f"{SPACES}/{name}", code=403)
    text = f'namespaces "{name}" is forbidden: this namespace may not be deleted'
    assert refused["message"] == text
    await target.ask("DELETE", SPACES, None, 405, fieldSelector=f"metadata.name={name}")
    assert "deletionTimestamp" not in (await target.get(f"{SPACES}/{name}"))["metadata"]


async def test_the_name_of_a_namespace_is_a_label(target: Target) -> None:
    path, label = f"{SPACES}/{target.namespace}", "kubernetes.io/metadata.name"
    for labels in ({label: "other", "x": "y"}, None):
        found = await target.merge(path, {"metadata": {"labels": labels}})
        assert found["metadata"]["labels"][label] == target.namespace


async def test_the_status_of_a_namespace_is_written_apart(target: Target) -> None:
    path = f"{SPACES}/{target.namespace}"
    told = {"type": "Told", "status": "True", "reason": "R", "message": "M"}
    patch = {"spec": {"finalizers": [HELD]}, "status": {"conditions": [told]}}
    found = await target.merge(f"{path}/status", patch)
    assert found["spec"] == {"finalizers": ["kubernetes"]}
    assert found["status"]["phase"] == "Active"
    assert found["status"]["conditions"][0].items() >= told.items()
    main = await target.merge(path, {"status": {"conditions": None}})
    assert main["status"] == found["status"]


async def test_own_finalizers_hold_a_namespace_that_is_empty(space: Space) -> None:
    await space.cluster.merge(space.path, {"metadata": {"finalizers": [HELD]}})
    await space.cluster.delete(space.path)

    async def emptied() -> bool:
        return "finalizers" not in (await space.get())["spec"]

    assert await until(emptied)
    told = {type: ("False", message) for type, message in FINE.items()}
    assert await space.conditions() == told
    await space.cluster.merge(space.path, {"metadata": {"finalizers": None}})
    await space.until_gone()


async def test_finalize_adds_what_holds_a_namespace(space: Space) -> None:
    found = await space.get()
    assert found["metadata"]["labels"] == {"kubernetes.io/metadata.name": space.name}
    spec = {"finalizers": ["kubernetes", HELD]}
    found = await space.cluster.put(f"{space.path}/finalize", {**found, "spec": spec})
    assert found["spec"] == spec
    await space.cluster.delete(space.path)

    async def held() -> bool:
        return bool((await space.get())["spec"] == {"finalizers": [HELD]})

    assert await until(held)
    await space.cluster.put(f"{space.path}/finalize", {**await space.get(), "spec": {}})
    await space.until_gone()


async def test_a_namespace_says_what_is_left_of_it(space: Space) -> None:
    path = space.inside("configmaps")
    for name in ("a", "b"):
        await space.cluster.create(path, config_map(name, finalizers=[HELD]))
    await space.cluster.delete(space.path)

    async def told() -> bool:
        return (await space.conditions()).get("NamespaceContentRemaining", ("", ""))[0] == "True"

    assert await until(told)
    expected = {type: ("False", message) for type, message in FINE.items()}
    expected["NamespaceContentRemaining"] = (
        "True",
        "Some resources are remaining: configmaps. has 2 resource instances",
    )
    expected["NamespaceFinalizersRemaining"] = (
        "True",
        f"Some content in the namespace has finalizers remaining: {HELD} in 2 resource instances",
    )
    assert await space.conditions() == expected
    for name in ("a", "b"):
        await space.cluster.merge(f"{path}/{name}", {"metadata": {"finalizers": None}})
    await space.until_gone()


async def test_every_namespace_has_a_default_account(space: Space) -> None:
    path = space.inside("serviceaccounts", "default")

    async def uid() -> str:
        reply = await space.cluster.send("GET", path)
        found = await space.cluster.get(path) if reply.status == 200 else {"metadata": {}}
        told: str = found["metadata"].get("uid", "")
        return told

    first = await until(uid)
    assert first
    await space.cluster.delete(path)
    assert await until(uid, lambda found: found not in ("", first)) not in ("", first)


async def test_every_namespace_has_the_certificate_to_trust(space: Space) -> None:
    path = space.inside("configmaps", "kube-root-ca.crt")

    async def data() -> dict[str, str]:
        reply = await space.cluster.send("GET", path)
        found: dict[str, str] = (
            (await space.cluster.get(path))["data"] if reply.status == 200 else {}
        )
        return found

    first = await until(data)
    assert list(first) == ["ca.crt"]
    assert first["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")
    await space.cluster.merge(path, {"data": {"ca.crt": "forged", "other": "x"}})
    assert await until(data, lambda found: found == first) == first
    await space.cluster.delete(path)
    assert await until(data) == first
