"""Smuggling through a relay: what was tried to make two programs read one request differently.

Each attempt has somebody else's request behind it. It must be refused, or reach the Service as
exactly one request whose framing is the relay's own; never may the second one reach anybody.
`tests/operators/portal/dataplane/test_hostile.py` has more of the same for Hosts and responses.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio

from quintant.agents.relay.relay import Relay
from testbeds.relays import Talk, asked, opened

pytestmark = pytest.mark.realtime

_HOST = b"Host: mine.relay.localhost\r\n"
_POST = b"POST /first HTTP/1.1\r\n" + _HOST
_GET = b"GET /first HTTP/1.1\r\n" + _HOST
_SECOND = b"GET /second HTTP/1.1\r\nHost: theirs.relay.localhost\r\n\r\n"
_CHUNKED = b"Transfer-Encoding: chunked\r\n"
_SIZE = b"%x\r\n" % len(_SECOND)

REFUSED = {
    "CL.TE": _POST + b"Content-Length: 6\r\n" + _CHUNKED + b"\r\n0\r\n\r\n",
    "TE.CL": _POST + _CHUNKED + b"Content-Length: 4\r\n\r\n" + _SIZE,
    "TE.TE, one obscured": _POST + _CHUNKED + b"Transfer-Encoding: x\r\n\r\n0\r\n\r\n",
    "TE with a tab before the colon": _POST + b"Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
    "TE in quotes": _POST + b'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n',
    "TE with a parameter": _POST + b"Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n",
    "TE before a bare line feed": _POST + b"Transfer-Encoding: chunked\n\r\n0\r\n\r\n",
    "a chunk that ends with a bare line feed": _POST + _CHUNKED + b"\r\n1\r\na\n0\r\n\r\n",
    "a chunk extension with a line feed": _POST + _CHUNKED + b"\r\n0;a\n\r\n\r\n",
    "a head that ends with bare line feeds": _GET + b"X: y\n\n",
    "a field behind a bare carriage return": _GET + b"X: a\rContent-Length: 64\r\n\r\n",
    "two lengths that differ": _POST + b"Content-Length: 0\r\nContent-Length: 64\r\n\r\n",
    "a length with an underscore inside": _POST + b"Content-Length: 6_4\r\n\r\n",
    "a length in other digits": _POST + b"Content-Length: \xd9\xa3\r\n\r\n",
    "two Hosts that are the same": _GET + _HOST + b"\r\n",
    "two Hosts that differ": _GET + b"Host: theirs.relay.localhost\r\n\r\n",
    "a Host with a tab inside": b"GET / HTTP/1.1\r\nHost: mine.relay.localhost\ttheirs\r\n\r\n",
    "absolute-form for somebody else": b"GET http://theirs.relay.localhost/ HTTP/1.1\r\n"
    + _HOST + b"\r\n",
    "absolute-form with a user": b"GET http://a@mine.relay.localhost/ HTTP/1.1\r\n"
    + _HOST + b"\r\n",
    "absolute-form of another scheme": b"GET file://mine.relay.localhost/etc HTTP/1.1\r\n"
    + _HOST + b"\r\n",
    "authority-form": b"GET theirs.relay.localhost:80 HTTP/1.1\r\n" + _HOST + b"\r\n",
    "CONNECT": b"CONNECT theirs.relay.localhost:80 HTTP/1.1\r\n" + _HOST + b"\r\n",
    "a line feed in the target": b"GET /a\nHost: theirs HTTP/1.1\r\n" + _HOST + b"\r\n",
    "three words before the version": b"GET /a b HTTP/1.1\r\n" + _HOST + b"\r\n",
    "a method with a colon": b"GET:x / HTTP/1.1\r\n" + _HOST + b"\r\n",
    "an empty line first, without CR": b"\n" + _GET + b"\r\n",
    "a field without a name": _GET + b": x\r\n\r\n",
    "a field that is folded at the head's end": _GET + b"X: a\r\n \r\n\r\n",
}  # fmt: skip


class Seen(NamedTuple):
    """A request as a Service reads it."""

    first: str
    fields: tuple[tuple[str, str], ...]

    def all(self, name: str) -> list[str]:
        """Values by a name in which CGI makes no difference between dash and underscore."""
        return [value for each, value in self.fields if each.lower().replace("_", "-") == name]


def noting(seen: list[Seen]) -> Talk:
    """A Service that notes what reaches it, and answers each at once."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while raw := await reader.readuntil(b"\r\n\r\n"):
            first, *lines = raw.decode("latin-1").split("\r\n")[:-2]
            pairs = (line.split(": ", 1) for line in lines)
            seen.append(Seen(first, tuple((name, value) for name, value in pairs)))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            return

    return talk


class TwoApps(NamedTuple):
    """Two apps behind one relay."""

    relay: Relay
    mine: list[Seen]
    theirs: list[Seen]


@pytest_asyncio.fixture
async def apps(tmp_path: Path) -> AsyncIterator[TwoApps]:
    async with opened(tmp_path) as testbed:
        mine, theirs = list[Seen](), list[Seen]()
        relay, _ = await testbed.exposed("mine", noting(mine))
        port = await testbed.service(noting(theirs))
        await testbed.tunnel("theirs", port, testbed.target(relay)).connected()
        yield TwoApps(relay, mine, theirs)


async def test_what_two_programs_may_read_differently_ends_at_the_relay(apps: TwoApps) -> None:
    answers = await asyncio.gather(*(asked(apps.relay, raw + _SECOND) for raw in REFUSED.values()))
    told = dict(zip(REFUSED, answers, strict=True))
    assert [name for name, got in told.items() if got[9:10] not in (b"4", b"5")] == []
    assert [name for name, got in told.items() if got.count(b"HTTP/1.1 ") != 1] == []
    assert apps.theirs == []
    assert all(each.first == "POST /first HTTP/1.1" for each in apps.mine)


async def passed(apps: TwoApps, raw: bytes) -> Seen:
    """The one request that reaches the Service for one that is passed on."""
    await asked(apps.relay, raw)
    (seen,) = apps.mine
    assert apps.theirs == []
    return seen


@pytest.mark.parametrize(
    "name", ["X_Forwarded_For", "x-forwarded_for", "X_REAL_IP", "X_Request-Id"]
)
async def test_no_visitor_says_where_it_comes_from_with_an_underscore(
    apps: TwoApps, name: str
) -> None:
    raw = _GET + f"{name}: 6.6.6.6\r\nConnection: close\r\n\r\n".encode()
    seen = await passed(apps, raw)
    assert "6.6.6.6" not in str(seen.fields)
    assert seen.all("x-forwarded-for") == ["127.0.0.1"]


@pytest.mark.parametrize("name", ["Transfer_Encoding: chunked", "Content_Length: 64"])
async def test_no_length_reaches_a_service_with_an_underscore(apps: TwoApps, name: str) -> None:
    seen = await passed(apps, _GET + f"{name}\r\nConnection: close\r\n\r\n".encode())
    assert seen.all("content-length") == seen.all("transfer-encoding") == []


async def test_escaped_line_ends_stay_escaped(apps: TwoApps) -> None:
    line = b"GET /a%0d%0aX-Injected:%20yes?b=%0d%0aX-Injected:%20yes HTTP/1.1\r\n"
    seen = await passed(apps, line + _HOST + b"Connection: close\r\n\r\n")
    assert seen.first.startswith("GET /a%0d%0aX-Injected:%20yes?b=%0d%0a")
    assert seen.all("x-injected") == []


async def test_absolute_form_that_agrees_with_its_host_becomes_a_path(apps: TwoApps) -> None:
    line = b"GET http://mine.relay.localhost/first HTTP/1.1\r\n"
    seen = await passed(apps, line + _HOST + b"Connection: close\r\n\r\n")
    assert seen.first == "GET /first HTTP/1.1"
    assert seen.all("host") == ["mine.relay.localhost"]


async def test_connection_cannot_strike_out_what_a_service_decides_by(apps: TwoApps) -> None:
    extra = (
        b"Connection: close, Host, X-Forwarded-For, Authorization\r\nAuthorization: Basic eA==\r\n"
    )
    seen = await passed(apps, _GET + extra + b"\r\n")
    assert seen.all("authorization") == ["Basic eA=="]
    assert seen.all("x-forwarded-for") == ["127.0.0.1"]
    assert seen.all("host") == ["mine.relay.localhost"]


async def test_a_second_request_goes_by_its_own_host(apps: TwoApps) -> None:
    await asked(
        apps.relay,
        _GET + b"\r\n" + _SECOND.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
    )
    assert [each.first for each in apps.mine] == ["GET /first HTTP/1.1"]
    assert [each.first for each in apps.theirs] == ["GET /second HTTP/1.1"]
