from __future__ import annotations

import re

import pytest

from quintant.version import KUBERNETES
from unit.cluster.api import api


async def test_the_version_is_the_kubernetes_release_we_speak() -> None:
    version = await api().get("/version")
    assert version["gitVersion"] == KUBERNETES
    assert re.fullmatch(r"\d+", version["major"])
    assert re.fullmatch(r"\d+", version["minor"])


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
async def test_probes_answer_in_plain_text(path: str) -> None:
    reply = await api().send("GET", path)
    assert (reply.status, reply.body) == (200, b"ok")
    assert reply.headers["content-type"].startswith("text/plain")


async def test_every_group_prefers_a_version_it_lists_and_every_version_has_resources() -> None:
    client = api()
    groups = (await client.get("/apis"))["groups"]
    assert "apps" in [group["name"] for group in groups]
    for group in groups:
        assert group["preferredVersion"] in group["versions"]
        assert (await client.get(f"/apis/{group['name']}"))["kind"] == "APIGroup"
        for version in group["versions"]:
            listed = await client.get(f"/apis/{version['groupVersion']}")
            assert listed["resources"]


async def test_the_core_group_has_its_own_place() -> None:
    client = api()
    assert (await client.get("/api"))["versions"] == ["v1"]
    core = await client.get("/api/v1")
    assert "apiVersion" not in core
    entries = {entry["name"]: entry for entry in core["resources"]}
    assert entries["pods"]["shortNames"] == ["po"]
    assert entries["pods"]["namespaced"]
    assert not entries["nodes"]["namespaced"]
    assert entries["pods/status"]["verbs"] == ["get", "patch", "update"]
    assert "configmaps/status" not in entries
    scale = (await client.get("/apis/apps/v1"))["resources"]
    assert {"group": "autoscaling", "version": "v1", "kind": "Scale"}.items() <= next(
        entry for entry in scale if entry["name"] == "deployments/scale"
    ).items()


@pytest.mark.parametrize("path", ["/nowhere", "/apis/nowhere.io", "/apis/apps/v9", "/"])
async def test_what_is_not_there_is_not_found_in_plain_text(path: str) -> None:
    reply = await api().send("GET", path)
    assert (reply.status, reply.body) == (404, b"404 page not found\n")
    assert reply.headers["content-type"].startswith("text/plain")


async def test_an_unknown_resource_of_a_known_group_is_a_status() -> None:
    client = api()
    for path in ("/api/v1/things", "/api/v9/things", "/apis/apps/v1/things"):
        missing = await client.get(path, code=404)
        assert missing["message"] == "the server could not find the requested resource"
        assert missing["details"] == {}


async def test_documents_about_the_server_cannot_be_written() -> None:
    await api().create("/version", {}, code=405)
