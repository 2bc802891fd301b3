"""Promises of quintant.client.pod_logs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.core import Pod
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.errors import NotFound
from quintant.runtime.cache.client import Client
from quintant.testing import named, run

POD = Pod(metadata=named("a"))


class Printer:
    """A transport whose streams say these pieces."""

    def __init__(self, *pieces: bytes, status: int = 200) -> None:
        self.pieces, self.status = pieces, status
        self.calls: list[ApiRequest] = []

    async def request(self, call: ApiRequest) -> ApiResponse:
        raise NotImplementedError

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        self.calls.append(call)
        yield ApiStream(self.status, self._say())

    async def close(self) -> None: ...

    async def _say(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            await asyncio.sleep(0)
            yield piece


def client(printer: Printer) -> Client:
    return Client(Rest(printer))


async def test_lines_come_whole_however_they_are_cut() -> None:
    printer = Printer(b"one\ntw", b"o\n\nthr", b"ee")
    assert [line async for line in client(printer).logs(POD)] == ["one", "two", "", "three"]
    assert printer.calls[0].path == "/api/v1/namespaces/default/pods/a/log"
    assert printer.calls[0].query == {}


async def test_what_is_asked_for_is_said_as_the_api_spells_it() -> None:
    printer = Printer()
    lines = client(printer).logs(POD, "main", follow=True, tail=0, previous=True)
    assert [line async for line in lines] == []
    assert printer.calls[0].query == {
        "container": "main",
        "follow": "true",
        "previous": "true",
        "tailLines": "0",
    }


async def test_pod_that_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound):
        async for _ in client(Printer(b"{}", status=404)).logs(POD):
            pass


@given(st.lists(st.binary(max_size=8)))
def test_nothing_is_left_out(pieces: list[bytes]) -> None:
    async def lines() -> list[str]:
        return [line async for line in client(Printer(*pieces)).logs(POD)]

    expected = [line.decode(errors="replace") for line in b"".join(pieces).split(b"\n")]
    assert run(lines()) == (expected if expected[-1] else expected[:-1])
