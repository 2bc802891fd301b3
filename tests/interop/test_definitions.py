"""Definitions of other projects, as published: each object is answered alike by both servers.

Of every project a few definitions are installed; of each of these one object is tried that its
schema asks for, and three that are wrong. Codes, complaints and warnings have to be the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from itertools import islice
from typing import Any

import pytest
import pytest_asyncio

from conformance.target import Target, decoded, until
from envtest import RealCluster
from foreign.crd_bundles import BUNDLES, bundle_definitions
from foreign.errors import ProgramError
from interop.conftest import Aloud
from interop.schema_samples import UNKNOWN_FIELD, invalid, storage_version, valid
from quintant import Config
from quintant.client.http.transport import HttpTransport
from quintant.cluster.apiserver.server.https import serve
from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import CRDS, JsonObject

OF_EACH = 5
"""Definitions of a project: all would be a thousand, which a real server takes an hour for."""
Answer = tuple[int, tuple[str, ...], tuple[str, ...]]
"""A code, what is complained about, and warnings; the order of complaints is nobody's promise."""


@pytest.fixture(scope="module")
def real_cluster() -> Iterator[RealCluster]:
    with RealCluster() as cluster:
        yield cluster


@pytest_asyncio.fixture
async def servers(real_cluster: RealCluster) -> AsyncIterator[tuple[Target, Target]]:
    """The embedded server, and a real one."""
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(serve(ApiServer()))
        found = []
        for config in (Config(url), Config.load(real_cluster.kubeconfig)):
            transport = HttpTransport(config)
            stack.push_async_callback(transport.close)
            found.append(Target(transport, "default"))
        yield found[0], found[1]


@pytest.fixture
def definitions(request: pytest.FixtureRequest, aloud: Aloud) -> list[JsonObject]:
    """The first definitions of a project; fetched, unless Go has them already."""
    try:
        with aloud():
            return [*islice(bundle_definitions(request.param), OF_EACH)]
    except ProgramError as error:
        pytest.skip(str(error))


def collection(definition: JsonObject) -> str:
    spec = definition["spec"]
    space = "/namespaces/default" if spec["scope"] == "Namespaced" else ""
    version = storage_version(definition)["name"]
    return f"/apis/{spec['group']}/{version}{space}/{spec['names']['plural']}"


async def said(target: Target, path: str, body: JsonObject, validation: str) -> Answer:
    """What a server says to an object, which is not stored."""
    reply = await target.send("POST", path, body, dryRun="All", fieldValidation=validation)
    warnings = reply.headers.get("warning", "").split(", 299 - ")
    return reply.status, complaints(decoded(reply.body)), tuple(sorted(warnings))


def complaints(answer: JsonObject) -> tuple[str, ...]:
    """Every complaint of a refusal, whatever comes first."""
    found = (answer.get("details") or {}).get("causes") or ()
    if not found:
        return (str(answer.get("message", "")),)
    return tuple(sorted(f"{each.get('field', '')}: {each['message']}" for each in found))


async def installed(target: Target, definition: JsonObject) -> tuple[int, tuple[str, ...]]:
    """How a definition is taken; once it is served, if it is taken."""
    body = {**definition, "metadata": _metadata(definition), "status": None}
    reply = await target.send("POST", CRDS, {k: v for k, v in body.items() if v is not None})
    if reply.status == 201:

        async def served() -> bool:
            return (await target.send("GET", collection(definition))).status == 200

        assert await until(served), definition["metadata"]["name"]
    return reply.status, complaints(decoded(reply.body))


def _metadata(definition: JsonObject) -> JsonObject:
    kept = {"name", "labels", "annotations"}
    return {key: value for key, value in definition["metadata"].items() if key in kept}


@pytest.mark.parametrize(
    "definitions", BUNDLES, indirect=True, ids=lambda bundle: bundle.module.split("/", 1)[-1]
)
async def test_objects_of_other_projects_are_answered_alike(
    servers: tuple[Target, Target], definitions: list[JsonObject]
) -> None:
    assert definitions
    differences: list[Any] = []
    for definition in definitions:
        name = definition["metadata"]["name"]
        taken = [await installed(each, definition) for each in servers]
        try:
            if taken[0] != taken[1]:
                differences.append((name, "definition", *taken))
            if taken[0][0] == taken[1][0] == 201:
                differences += [(name, *each) async for each in _compared(servers, definition)]
        finally:
            for each in servers:
                await each.send("DELETE", f"{CRDS}/{name}")
    assert differences == []


async def _compared(
    servers: tuple[Target, Target], definition: JsonObject
) -> AsyncIterator[tuple[str, Answer, Answer]]:
    """The objects that servers answer differently."""
    path = collection(definition)
    tried = [("valid", valid(definition)), *invalid(definition)]
    for what, body in tried:
        validation = "Strict" if what == UNKNOWN_FIELD else "Warn"
        ours, theirs = await asyncio.gather(
            *(said(each, path, body, validation) for each in servers)
        )
        if ours != theirs:
            yield what, ours, theirs


def test_there_are_as_many_projects_as_the_page_says() -> None:
    assert len({bundle.module for bundle in BUNDLES}) >= 25
