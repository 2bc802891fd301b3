"""A recording tells everything that became of a cluster, and opens it as it was at any moment."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.instance.recorder import record
from quintant.cluster.instance.recording import LINE_BYTES, encode_line, recorded_change
from quintant.cluster.instance.recording_file import RecordingFull
from quintant.cluster.instance.replay import load_recording
from quintant.core.clock import LoopClock
from quintant.core.errors import ConfigError, TransportError
from quintant.core.resource import Resource
from unit.cluster.api import CMS, CRDS, FOOS, Api, api, config_map, foo, foo_definition

SECRETS = "/api/v1/namespaces/default/secrets"
AUTOSCALERS = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


HEADER = b'{"recording": 1, "kubernetes": "", "created": ""}\n'
COMPLETE = b'{"complete": 1}\n'


def line_of(name: object = "a") -> bytes:
    """The line of a ConfigMap."""
    metadata = {"name": name, "namespace": "default"}
    resource = Resource("", "v1", "ConfigMap", "configmaps")
    return encode_line(recorded_change(resource, {"metadata": metadata}, "", rv=2))


def replayed(path: Path, until: int | None = None) -> Api:
    """The cluster of a recording, open."""
    return Api(ApiServer(store=RevisionStore.of(load_recording(path, until).objects)))


def contents(client: Api) -> dict[str, dict[str, bytes]]:
    """Every object as it is stored, by table and key."""
    tables = client.server.snapshot().tables
    return {
        name: {key: entry.raw for key, entry in table.entries.items()}
        for name, table in tables.items()
        if table.entries
    }


async def test_the_end_of_a_recording_is_the_cluster_itself(tmp_path: Path) -> None:
    client, path = api(), tmp_path / "file"
    await client.create(CMS, config_map("before", {"a": "1"}))
    async with record(client.transport, path, LoopClock()):
        await client.create(CMS, config_map("during", {"a": "1"}))
        await client.merge(f"{CMS}/before", {"data": {"a": "2"}})
        await client.create(CMS, config_map("gone"))
        await client.delete(f"{CMS}/gone")
    assert contents(replayed(path)) == contents(client)


async def test_it_opens_as_the_cluster_was_at_each_revision(tmp_path: Path) -> None:
    client, path = api(), tmp_path / "file"
    then: dict[int, object] = {}
    async with record(client.transport, path, LoopClock()):
        for step in range(5):
            for act in (
                client.create(CMS, config_map("new")),
                client.merge(f"{CMS}/new", {"data": {"step": str(step)}}),
                client.delete(f"{CMS}/new"),
            ):
                await act
                then[client.server.store.revision] = contents(client)
            await asyncio.sleep(1)
    assert {rv: contents(replayed(path, rv)) for rv in then} == then


async def test_objects_keep_the_revisions_that_they_had(tmp_path: Path) -> None:
    client, path = api(), tmp_path / "file"
    async with record(client.transport, path, LoopClock()):
        made = await client.create(CMS, config_map("a"))
    found = await replayed(path).get(f"{CMS}/a")
    assert found == made


async def test_custom_resources_and_what_is_stored_in_another_form_come_back(
    tmp_path: Path,
) -> None:
    client, path = api(), tmp_path / "file"
    target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
    async with record(client.transport, path, LoopClock()):
        await client.create(CRDS, foo_definition())
        await asyncio.sleep(60)
        await client.create(FOOS, foo("late", {"size": 3}))
        spec = {"scaleTargetRef": target, "maxReplicas": 3}
        await client.create(AUTOSCALERS, {"metadata": {"name": "h"}, "spec": spec})
    again = replayed(path)
    assert (await again.get(f"{FOOS}/late"))["spec"]["size"] == 3
    assert await again.get(f"{AUTOSCALERS}/h") == await client.get(f"{AUTOSCALERS}/h")


async def test_what_secrets_hold_is_not_in_the_file(tmp_path: Path) -> None:
    client, path = api(), tmp_path / "file"
    value = b64encode(b"hunter2").decode()
    secret = {
        "metadata": {"name": "s", "annotations": {APPLIED: value, "kept": "yes"}},
        "data": {"password": value},
    }
    await client.create(SECRETS, secret)
    async with record(client.transport, path, LoopClock()):
        await client.merge(f"{SECRETS}/s", {"stringData": {"other": "hunter2"}})
    text = path.read_bytes()
    assert value.encode() not in text
    assert b"hunter2" not in text
    found = await replayed(path).get(f"{SECRETS}/s")
    assert sorted(found["data"]) == ["other", "password"]
    assert found["metadata"]["annotations"] == {"kept": "yes"}


async def test_a_file_that_ends_in_the_middle_of_a_line_is_good_up_to_there(
    tmp_path: Path,
) -> None:
    client, path = api(), tmp_path / "file"
    async with record(client.transport, path, LoopClock()):
        await client.create(CMS, config_map("a"))
        await asyncio.sleep(1)
        revision = client.server.store.revision
        await client.create(CMS, config_map("b"))
    path.write_bytes(path.read_bytes()[:-10])
    assert await replayed(path).names(CMS) == ["a"]
    assert load_recording(path).last == revision


async def test_a_line_is_in_the_file_as_soon_as_it_is_told(tmp_path: Path) -> None:
    client, path = api(), tmp_path / "file"
    async with record(client.transport, path, LoopClock()):
        await client.create(CMS, config_map("a"))
        await asyncio.sleep(1)
        assert b'"name":"a"' in path.read_bytes()


@pytest.mark.parametrize(
    ("lines", "because"),
    [
        (b"", "its first line is not that of a recording"),
        (b'{"kind": "List"}\n', "its first line is not that of a recording"),
        (b"[" * 100_000, "its first line is not that of a recording"),
        (b'{"recording": 9, "kubernetes": "", "created": ""}\n', "its format is 9, and this"),
        (b'{"recording": 1, "kubernetes": "", "created": ""}\nnot\n', "line 2 cannot be read"),
        (b'{"recording": 1, "kubernetes": "", "created": ""}\n', "it ends before all was told"),
        (HEADER + line_of(name={}), "line 2 cannot be read"),
        (HEADER + COMPLETE + line_of(name="x" * LINE_BYTES) + line_of(), "line 3 has more than"),
    ],
    ids=["empty", "another", "deep", "newer", "damaged", "short", "nameless", "huge"],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, lines: bytes, because: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(lines)
    with pytest.raises(ConfigError) as error:
        load_recording(path)
    assert f"cannot replay {path}\nbecause: {because}" in str(error.value)


async def test_a_revision_that_the_file_does_not_tell_of_is_refused(tmp_path: Path) -> None:
    client, path = api(), tmp_path / "file"
    await client.create(CMS, config_map("a"))
    first = client.server.store.revision
    async with record(client.transport, path, LoopClock()):
        await client.create(CMS, config_map("b"))
    for until in (first - 1, first + 5):
        with pytest.raises(ConfigError, match=f"the revisions from {first} to {first + 1}"):
            load_recording(path, until)


async def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("precious")
    with pytest.raises(ConfigError, match="cannot record to"):
        async with record(api().transport, path, LoopClock()):
            raise AssertionError("it began")
    assert path.read_text() == "precious"


async def test_a_recording_ends_at_its_size_with_whole_lines(tmp_path: Path) -> None:
    client, path = api(), tmp_path / "file"
    async with record(client.transport, path, LoopClock()):
        pass
    most = path.stat().st_size + 2_000
    full = tmp_path / "full"

    async def overflow() -> None:
        async with record(client.transport, full, LoopClock(), most=most):
            for step in range(100):
                await client.create(CMS, config_map(f"n-{step}"))
                await asyncio.sleep(1)

    with pytest.raises(RecordingFull, match="is full"):
        await overflow()
    assert full.stat().st_size <= most
    assert "n-0" in await replayed(full).names(CMS)


class Flaky(InProcessTransport):
    """A server whose watches break, and bring nonsense, until it is mended."""

    broken = True

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        if not self.broken:
            async with super().stream(call) as stream:
                yield stream
            return
        if "configmaps" in call.path:
            yield ApiStream(200, _nonsense())
            return
        raise TransportError("the connection is cut")

    async def request(self, call: ApiRequest) -> ApiResponse:
        if self.broken and call.path.endswith("/leases"):
            return ApiResponse(200, b"[" * 100_000)
        return await super().request(call)


async def _nonsense() -> AsyncIterator[bytes]:
    yield b'{"type": "ADDED", "object": []}\n'


async def test_a_server_that_breaks_off_and_lies_is_recorded_all_the_same(tmp_path: Path) -> None:
    client, path = api(), tmp_path / "file"
    Flaky.broken = True
    async with record(Flaky(client.server), path, LoopClock()):
        made = await client.create(CMS, config_map("a"))
        await asyncio.sleep(30)
        await client.delete(f"{CMS}/a")
        await client.create(CMS, config_map("b"))
        await asyncio.sleep(30)
        Flaky.broken = False
    assert await replayed(path).names(CMS) == ["b"]
    assert contents(replayed(path)) == contents(client)
    assert await replayed(path, int(made["metadata"]["resourceVersion"])).names(CMS) == ["a"]


class Cut(InProcessTransport):
    """A server whose watches cannot be had."""

    there = False

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        if not self.there:
            raise TransportError("the connection is cut")
        async with super().stream(call) as stream:
            yield stream


class Late(InProcessTransport):
    """A server that names a kind before it answers for it, as that of a new definition may."""

    answer: ApiResponse | None = None

    async def request(self, call: ApiRequest) -> ApiResponse:
        if self.answer is not None and call.path.endswith("/configmaps"):
            return self.answer
        return await super().request(call)


@pytest.mark.parametrize(
    "answer",
    [
        ApiResponse(404, b'{"kind": "Status", "reason": "NotFound"}'),
        ApiResponse(200, b'{"metadata": {"resourceVersion": ""}, "items": []}'),
    ],
    ids=["not found", "without a revision"],
)
async def test_a_kind_that_cannot_be_followed_at_first_is_recorded_as_soon_as_it_can(
    tmp_path: Path, answer: ApiResponse
) -> None:
    client, path = api(), tmp_path / "file"
    await client.create(SECRETS, {"metadata": {"name": "s"}})
    await client.create(CMS, config_map("a"))
    Late.answer = answer
    async with record(Late(client.server), path, LoopClock()):
        await asyncio.sleep(60)
        assert await replayed(path).names(SECRETS) == ["s"]
        Late.answer = None
        await asyncio.sleep(60)
        assert await replayed(path).names(CMS) == ["a"]


async def test_what_history_has_forgotten_after_an_outage_is_listed_again(tmp_path: Path) -> None:
    client, path = api(), tmp_path / "file"
    await client.create(CMS, config_map("a"))
    Cut.there = False
    async with record(Cut(client.server), path, LoopClock()):
        await client.delete(f"{CMS}/a")
        await client.create(CMS, config_map("b"))
        client.server.compact()
        Cut.there = True
        await asyncio.sleep(30)
        assert await replayed(path).names(CMS) == ["b"]
