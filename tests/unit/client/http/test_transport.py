"""Promises of quintant.client.http.transport, against real servers on loopback."""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import uvloop
from aiohttp import web
from msgspec.structs import replace

from quintant.client.config.credentials import StaticCredential
from quintant.client.config.exec_plugin import ExecPluginCredential, ProcessResult
from quintant.client.config.tls import Pem, TlsConfig
from quintant.client.config.tokens import CertificateFilesCredential
from quintant.client.config.user import AuthInfo, Impersonate, Plugin
from quintant.client.http.transport import HttpTransport, TransportLimits
from quintant.client.transport import ApiRequest
from quintant.core.clock import SystemClock
from quintant.core.errors import (
    ConfigError,
    ConnectError,
    DeadlineExceeded,
    NotLeader,
    StreamStalled,
    TransportError,
)
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from unit.client.loopback_servers import AUTHORITY, TRUSTED, Api, head, serving, talking, transport
from unit.client.pki import DAY, Authority

pytestmark = pytest.mark.realtime

GET = ApiRequest("GET", "/api/v1/pods")
TLS = AUTHORITY.serving("127.0.0.1")
ALIVE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def hello(request: web.Request) -> web.Response:
    return web.json_response({"path": request.path_qs, "body": (await request.read()).decode()})


async def forever(request: web.Request) -> web.Response:
    await asyncio.sleep(600)
    return web.Response()


async def test_request_carries_path_query_headers_and_body() -> None:
    async with serving(hello, TLS) as api, transport(api.config()) as http:
        call = ApiRequest("PATCH", "/a/b", {"x y": "&é"}, {"content-type": "text/x"}, b"body")
        reply = await http.request(call)
    assert reply.status == 200
    assert json.loads(reply.body) == {"path": "/a/b?x+y=%26%C3%A9", "body": "body"}
    assert reply.headers["content-type"].startswith("application/json")
    (seen,) = api.seen
    assert seen.headers["content-type"] == "text/x"
    assert seen.headers["user-agent"].startswith("quintant/")
    assert seen.headers["accept-encoding"] == "identity"


async def test_any_status_is_an_answer_and_redirects_are_not_followed() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=int(request.path[1:]), headers={"Location": "/200"})

    async with serving(answer, TLS) as api, transport(api.config()) as http:
        for status in (200, 302, 404, 409, 500):
            assert (await http.request(ApiRequest("GET", f"/{status}"))).status == status


async def test_connection_is_reused_for_requests_and_each_stream_has_its_own() -> None:
    async with serving(hello, TLS) as api, transport(api.config()) as http:
        for _ in range(5):
            await http.request(GET)
        assert len(api.peers) == 1
        for _ in range(2):
            async with http.stream(GET) as stream:
                assert stream.status == 200
        assert len(api.peers) == 3


async def test_impersonation_is_sent_with_every_group() -> None:
    who = Impersonate("jo", "7", ("a", "b"), {"example.com/x": ("1", "2")})
    async with serving(hello) as api, transport(api.config(user=AuthInfo(impersonate=who))) as http:
        await http.request(GET)
    headers = api.seen[0].headers
    assert (headers["Impersonate-User"], headers["Impersonate-Uid"]) == ("jo", "7")
    assert headers.getall("Impersonate-Group") == ["a", "b"]
    assert headers.getall("Impersonate-Extra-example.com%2Fx") == ["1", "2"]


async def test_large_body_is_sent_whole() -> None:
    async with serving(hello, TLS) as api, transport(api.config()) as http:
        body = b"x" * 3_000_000
        reply = await http.request(ApiRequest("POST", "/", body=body))
        assert len(json.loads(reply.body)["body"]) == len(body)


async def test_answer_larger_than_the_limit_is_refused_announced_or_not() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/announced":
            return web.Response(body=b"x" * 3000)
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(int(request.query.get("pieces", "30"))):
            await response.write(b"x" * 100)
        return response

    async with (
        serving(answer, TLS) as api,
        transport(api.config(), limits=TransportLimits(size=2000)) as http,
    ):
        for path in ("/announced", "/chunked"):
            with pytest.raises(TransportError, match="larger than 2000 bytes"):
                await http.request(ApiRequest("GET", path))
        reply = await http.request(ApiRequest("GET", "/chunked", {"pieces": "20"}))
        assert reply.body == b"x" * 2000


async def test_wrong_authority_is_explained() -> None:
    other = TlsConfig(Pem("ca", Sensitive(Authority("other").pem)))
    async with serving(hello, TLS) as api, transport(api.config(other)) as http:
        with pytest.raises(ConnectError, match="not signed by an authority we trust") as caught:
            await http.request(GET)
    assert "try: certificate-authority-data" in str(caught.value)


def test_unusable_authority_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError, match="cannot use ca"):
        HttpTransport(Api(hello).config(TlsConfig(Pem("ca", Sensitive(b"no PEM")))))


async def test_authority_that_vanishes_later_is_no_end_of_the_world(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_bytes(AUTHORITY.pem)
    trust = TlsConfig(Pem("certificate-authority", path=path))
    async with serving(hello, TLS) as api, transport(api.config(trust)) as http:
        path.unlink()
        with pytest.raises(ConnectError, match="cannot read certificate-authority"):
            await http.request(GET)
        path.write_bytes(AUTHORITY.pem)
        assert (await http.request(GET)).status == 200


async def test_wrong_name_is_explained_and_tls_server_name_mends_it() -> None:
    async with serving(hello, AUTHORITY.serving("kubernetes.default")) as api:
        async with transport(api.config()) as http:
            with pytest.raises(ConnectError, match="made out to other names") as caught:
                await http.request(GET)
            assert "try: tls-server-name" in str(caught.value)
        named = replace(TRUSTED, server_name="kubernetes.default")
        async with transport(api.config(named)) as http:
            assert (await http.request(GET)).status == 200
            async with http.stream(GET) as stream:
                assert stream.status == 200


async def test_expired_certificate_is_explained() -> None:
    async with (
        serving(hello, AUTHORITY.serving("127.0.0.1", life=-DAY)) as api,
        transport(api.config()) as http,
    ):
        with pytest.raises(ConnectError, match="certificate has expired"):
            await http.request(GET)


async def test_insecure_skips_the_check() -> None:
    async with (
        serving(hello, Authority("other").serving("elsewhere")) as api,
        transport(api.config(TlsConfig(insecure=True))) as http,
    ):
        assert (await http.request(GET)).status == 200


async def test_server_without_tls_is_explained() -> None:
    async with serving(hello) as api:
        config = replace(api.config(), server=f"https://127.0.0.1:{api.port}")
        async with transport(config) as http:
            with pytest.raises(ConnectError, match="does not speak TLS"):
                await http.request(GET)


def certified(pair: KeyPair) -> AuthInfo:
    return AuthInfo(certificate=Pem("client-certificate", pair.certificate), key=Pem("k", pair.key))


async def who(request: web.Request) -> web.Response:
    assert request.transport is not None
    subject = request.transport.get_extra_info("peercert")["subject"]
    return web.Response(text=dict(subject[0])["commonName"])


async def test_client_certificate_is_shown() -> None:
    async with (
        serving(who, AUTHORITY.serving("127.0.0.1", clients=True)) as api,
        transport(api.config(user=certified(AUTHORITY.issue("jo")))) as http,
    ):
        assert (await http.request(GET)).body == b"jo"


async def test_server_that_hangs_up_for_want_of_a_certificate_is_a_broken_connection() -> None:
    async with (
        serving(who, AUTHORITY.serving("127.0.0.1", clients=True)) as api,
        transport(api.config()) as http,
    ):
        with pytest.raises(ConnectError, match="broke before the whole answer"):
            await http.request(GET)


async def test_renewed_certificate_closes_idle_connections_and_leaves_streams(
    tmp_path: Path,
) -> None:
    paths = tmp_path / "crt", tmp_path / "key"

    def write(pair: KeyPair) -> None:
        for path, text in zip(paths, (pair.certificate, pair.key), strict=True):
            path.write_bytes(text.reveal())

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/stream":
            response = web.StreamResponse()
            await response.prepare(request)
            await asyncio.sleep(600)
        return await who(request)

    write(AUTHORITY.issue("old"))
    certificate, key = (Pem("pem", path=path) for path in paths)
    source = CertificateFilesCredential(StaticCredential(), certificate, key)
    async with (
        serving(answer, AUTHORITY.serving("127.0.0.1", clients=True)) as api,
        transport(api.config(), credentials=source) as http,
    ):
        async with http.stream(ApiRequest("GET", "/stream")) as stream:
            assert (await http.request(GET)).body == b"old"
            write(AUTHORITY.issue("new"))
            source.invalidate(0)
            assert (await http.request(GET)).body == b"new"
            assert stream.status == 200
        assert len(api.peers) == 3


async def test_rotated_token_is_picked_up_within_the_request(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("one")
    valid = {"Bearer one"}

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=200 if request.headers["authorization"] in valid else 401)

    async with (
        serving(answer, TLS) as api,
        transport(api.config(user=AuthInfo(token_file=token))) as http,
    ):
        assert (await http.request(GET)).status == 200
        token.write_text("two-")
        valid.clear()
        valid.add("Bearer two-")
        assert (await http.request(GET)).status == 200
        assert len(api.seen) == 3
        token.write_text("three")
        valid.clear()
        valid.add("Bearer three")
        async with http.stream(GET) as stream:
            assert stream.status == 200
        assert len(api.seen) == 5


async def test_fence_is_asked_when_the_connection_stands_and_again_after_a_refused_token(
    tmp_path: Path,
) -> None:
    token = tmp_path / "token"
    token.write_text("one")
    valid, asked = {"Bearer one"}, list[int]()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=200 if request.headers["authorization"] in valid else 401)

    async with (
        serving(answer, TLS) as api,
        transport(api.config(user=AuthInfo(token_file=token))) as http,
    ):
        fenced = replace(GET, method="DELETE", fence=lambda _: asked.append(len(api.seen)))
        assert (await http.request(fenced)).status == 200
        token.write_text("two-")
        valid.clear()
        valid.add("Bearer two-")
        assert (await http.request(fenced)).status == 200

    assert asked == [0, 1, 2]


async def test_what_the_fence_refuses_is_not_sent_and_later_requests_are() -> None:
    def refuse(_: ApiRequest) -> None:
        raise NotLeader("lost")

    async with serving(hello, TLS) as api, transport(api.config()) as http:
        for _ in range(2):  # on a new connection, and on one that was kept
            with pytest.raises(NotLeader):
                await http.request(replace(GET, method="DELETE", fence=refuse))
            assert (await http.request(GET)).status == 200
        assert [request.method for request in api.seen] == ["GET", "GET"]


async def test_refused_token_is_not_tried_twice_in_vain() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=401)

    async with (
        serving(answer, TLS) as api,
        transport(api.config(user=AuthInfo(token=Sensitive("bad")))) as http,
    ):
        assert (await http.request(GET)).status == 401
        async with http.stream(GET) as stream:
            assert stream.status == 401
    assert len(api.seen) == 2


PLUGIN = """
import datetime, json, os, pathlib, sys
count = pathlib.Path(sys.argv[1])
number = int(count.read_text() or 0) + 1
count.write_text(str(number))
until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=int(sys.argv[2]))
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
status = {"token": f"t{number}", "expirationTimestamp": until.strftime("%Y-%m-%dT%H:%M:%SZ")}
print(json.dumps({"apiVersion": info["apiVersion"], "kind": info["kind"], "status": status}))
"""


@pytest.mark.parametrize(("seconds", "tokens"), [("3600", ["t1", "t1"]), ("-1", ["t1", "t2"])])
async def test_plugin_is_run_again_only_when_its_token_expired(
    tmp_path: Path, seconds: str, tokens: list[str]
) -> None:
    program, count = tmp_path / "login.py", tmp_path / "count"
    program.write_text(PLUGIN)
    count.write_text("")
    version = "client.authentication.k8s.io/v1"
    plugin = Plugin(sys.executable, version, (str(program), str(count), seconds))
    async with (
        serving(hello, TLS) as api,
        transport(api.config(user=AuthInfo(plugin=plugin)), clock=SystemClock()) as http,
    ):
        for _ in range(2):
            await http.request(GET)
    assert [seen.headers["authorization"] for seen in api.seen] == [f"Bearer {t}" for t in tokens]


async def test_given_credentials_take_the_place_of_the_configured() -> None:
    async def run(
        argv: tuple[str, ...], env: Mapping[str, str], interactive: bool
    ) -> ProcessResult:
        raise FileNotFoundError(2, "No such file")

    plugin = ExecPluginCredential(Plugin("x", "v1"), {}, SystemClock(), run=run)
    async with serving(hello, TLS) as api, transport(api.config(), credentials=plugin) as http:
        with pytest.raises(TransportError, match="cannot get credentials"):
            await http.request(GET)
    assert not api.seen


async def test_unreachable_server_is_explained() -> None:
    async with serving(hello) as api:
        config = api.config()
    async with transport(config) as http:
        with pytest.raises(ConnectError, match="cannot be reached") as caught:
            await http.request(GET)
        with pytest.raises(ConnectError):
            async with http.stream(GET):
                raise AssertionError
    assert "try: check that the cluster is running" in str(caught.value)


async def test_server_without_address_is_explained() -> None:
    async with serving(hello) as api:
        config = replace(api.config(), server="http://no-such-host.invalid")
        async with transport(config) as http:
            with pytest.raises(ConnectError, match="has no address"):
                await http.request(GET)


async def test_slow_answer_exceeds_the_deadline() -> None:
    async with (
        serving(forever, TLS) as api,
        transport(api.config(), limits=TransportLimits(answer=0.1)) as http,
    ):
        with pytest.raises(DeadlineExceeded):
            await http.request(GET)
        with pytest.raises(DeadlineExceeded):
            await http.request(replace(GET, timeout=0.2))


async def test_server_that_accepts_and_says_nothing_cannot_be_reached() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(600)

    async with serving(hello) as api, talking(talk) as port:
        config = replace(api.config(), server=f"https://127.0.0.1:{port}")
        async with transport(config) as http:
            with pytest.raises(ConnectError, match="did not accept a connection in time"):
                await http.request(replace(GET, timeout=0.2))


async def test_head_of_a_stream_that_does_not_come_is_a_stall() -> None:
    async with (
        serving(forever, TLS) as api,
        transport(api.config(), limits=TransportLimits(head=0.1)) as http,
    ):
        with pytest.raises(StreamStalled, match="no head within"):
            async with http.stream(GET):
                raise AssertionError


async def test_cancelled_opening_of_a_stream_is_cancelled() -> None:
    async with serving(forever, TLS) as api, transport(api.config()) as http:

        async def read() -> None:
            async with http.stream(GET):
                raise AssertionError

        task = asyncio.ensure_future(read())
        await api.asked.wait()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()


async def test_stream_hands_on_what_comes_when_it_comes_of_any_length() -> None:
    more = asyncio.Event()
    line = b"x" * 3_000_000 + b"\n"

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"first\n")
        await more.wait()
        await response.write(line)
        return response

    async with (
        serving(answer, TLS) as api,
        transport(api.config()) as http,
        http.stream(GET) as stream,
    ):
        assert await anext(stream.chunks) == b"first\n"
        more.set()
        assert b"".join([chunk async for chunk in stream.chunks]) == line


@pytest.mark.parametrize("tls", [TLS, None])
async def test_stream_that_may_be_left_unread_brings_everything_in_order(
    tls: ssl.SSLContext | None,
) -> None:
    lines = [b"%d\n" % number for number in range(200)]

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for line in lines:
            await response.write(line)
        return response

    async with (
        serving(answer, tls) as api,
        transport(api.config()) as http,
        http.stream(replace(GET, gather=0.01)) as stream,
    ):
        assert b"".join([chunk async for chunk in stream.chunks]) == b"".join(lines)


async def test_stream_that_may_be_left_unread_shows_nothing_to_a_server_without_our_trust() -> None:
    other = TlsConfig(Pem("ca", Sensitive(Authority("other").pem)))
    async with serving(hello, TLS) as api, transport(api.config(other)) as http:
        with pytest.raises(ConnectError, match="not signed by an authority we trust"):
            async with http.stream(replace(GET, gather=0.01)):
                raise AssertionError
    assert not api.seen


async def test_leaving_a_stream_closes_its_connection() -> None:
    closed = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        await reader.read()
        closed.set()

    async with serving(hello) as api, talking(talk) as port:
        config = replace(api.config(), server=f"http://127.0.0.1:{port}")
        async with transport(config) as http:
            async with http.stream(GET) as stream:
                assert await anext(stream.chunks) == b"a"
            await asyncio.wait_for(closed.wait(), 5)


async def test_stream_cut_within_a_chunk_breaks() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc")
        await writer.drain()

    async with serving(hello) as api, talking(talk) as port:
        config = replace(api.config(), server=f"http://127.0.0.1:{port}")
        async with transport(config) as http, http.stream(GET) as stream:
            with pytest.raises(ConnectError, match="the connection broke"):
                [chunk async for chunk in stream.chunks]


async def test_server_that_does_not_speak_http_is_explained() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head(reader)
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
        await writer.drain()

    async with serving(hello) as api, talking(talk) as port:
        config = replace(api.config(), server=f"http://127.0.0.1:{port}")
        async with transport(config) as http:
            with pytest.raises(ConnectError, match="not HTTP"):
                await http.request(GET)


async def test_answer_cut_short_is_a_broken_connection() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        await writer.drain()

    async with serving(hello) as api, talking(talk) as port:
        config = replace(api.config(), server=f"http://127.0.0.1:{port}")
        async with transport(config) as http:
            with pytest.raises(ConnectError, match="broke before the whole answer"):
                await http.request(GET)


class Stale:
    """A server that answers the first request of a connection and hangs up on the second."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.requests.append(await head(reader))
        writer.write(ALIVE)
        self.requests.append(await head(reader))


@pytest.mark.parametrize(
    "call", [GET, ApiRequest("DELETE", "/a"), ApiRequest("PATCH", "/a", body=b"", idempotent=True)]
)
async def test_harmless_request_on_a_dead_connection_is_sent_again(call: ApiRequest) -> None:
    server = Stale()
    async with serving(hello) as api, talking(server) as port:
        config = replace(api.config(), server=f"http://127.0.0.1:{port}")
        async with transport(config) as http:
            await http.request(GET)
            assert (await http.request(call)).body == b"ok"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "call", [ApiRequest("POST", "/a", body=b""), ApiRequest("PATCH", "/a", body=b"")]
)
async def test_other_request_on_a_dead_connection_is_not(call: ApiRequest) -> None:
    server = Stale()
    async with serving(hello) as api, talking(server) as port:
        config = replace(api.config(), server=f"http://127.0.0.1:{port}")
        async with transport(config) as http:
            await http.request(GET)
            with pytest.raises(ConnectError, match="broke"):
                await http.request(call)
    assert len(server.requests) == 2


class Proxy:
    """An HTTP proxy that tunnels, or refuses with a status."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.heads: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await head(reader))
        writer.write(b"HTTP/1.1 %d Said\r\n\r\n" % self.status)
        if self.status != 200:
            return
        host, _, port = self.heads[-1].split()[1].decode().rpartition(":")
        there, back = await asyncio.open_connection(host, int(port))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_pour(reader, back))
                group.create_task(_pour(there, writer))
        finally:
            back.close()


async def _pour(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        sink.write(data)
        await sink.drain()
    sink.close()


async def test_proxy_tunnels_and_gets_its_password() -> None:
    proxy = Proxy()
    named = replace(TRUSTED, server_name="inner")
    async with serving(hello, AUTHORITY.serving("inner")) as api, talking(proxy) as port:
        address = Sensitive(f"http://me:sesame@127.0.0.1:{port}")
        async with transport(api.config(named, proxy=address)) as http:
            assert (await http.request(GET)).status == 200
            async with http.stream(GET) as stream:
                assert stream.status == 200
    assert len(proxy.heads) == 2
    assert proxy.heads[0].startswith(b"CONNECT 127.0.0.1:%d " % api.port)
    assert b"Proxy-Authorization: Basic bWU6c2VzYW1l" in proxy.heads[0]
    assert "authorization" not in api.seen[0].headers
    assert "proxy-authorization" not in api.seen[0].headers


async def test_proxy_forwards_to_a_server_without_tls() -> None:
    heads: list[bytes] = []

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await head(reader))
        writer.write(ALIVE)

    async with serving(hello) as api, talking(forward) as port:
        address = Sensitive(f"http://me:sesame@127.0.0.1:{port}")
        async with transport(api.config(proxy=address)) as http:
            assert (await http.request(GET)).body == b"ok"
    assert heads[0].startswith(b"GET http://127.0.0.1:%d/api/v1/pods HTTP/1.1\r\n" % api.port)
    assert b"Proxy-Authorization: Basic bWU6c2VzYW1l" in heads[0]
    assert not api.seen


async def test_proxy_with_a_certificate_of_nobody_is_explained() -> None:
    async with serving(hello, TLS) as api, talking(Proxy(), AUTHORITY.serving("proxy")) as port:
        address = Sensitive(f"https://127.0.0.1:{port}")
        async with transport(api.config(proxy=address)) as http:
            with pytest.raises(ConnectError, match="the proxy cannot be reached"):
                await http.request(GET)


async def test_proxy_that_refuses_is_explained_without_its_password() -> None:
    async with serving(hello, TLS) as api, talking(Proxy(407)) as port:
        address = Sensitive(f"http://me:sesame@127.0.0.1:{port}")
        async with transport(api.config(proxy=address)) as http:
            with pytest.raises(ConnectError, match="the proxy refused") as caught:
                await http.request(GET)
    assert "sesame" not in str(caught.value)


async def test_proxy_that_is_not_there_is_explained() -> None:
    async with talking(Proxy()) as port:
        pass
    async with (
        serving(hello, TLS) as api,
        transport(api.config(proxy=Sensitive(f"http://127.0.0.1:{port}"))) as http,
    ):
        with pytest.raises(ConnectError, match="the proxy cannot be reached"):
            await http.request(GET)


async def test_closed_transport_refuses_and_breaks_what_is_under_way() -> None:
    async with serving(forever, TLS) as api, transport(api.config()) as http:
        waiting = asyncio.ensure_future(http.request(GET))
        await api.asked.wait()
        await http.close()
        with pytest.raises(ConnectError):
            await waiting
        with pytest.raises(ConnectError, match="closed"):
            await http.request(GET)


def test_transport_is_made_without_a_loop_and_runs_on_uvloop() -> None:
    async def main() -> None:
        async with serving(hello, AUTHORITY.serving("inner")) as api, talking(Proxy()) as port:
            named = replace(TRUSTED, server_name="inner")
            proxied = api.config(named, proxy=Sensitive(f"http://127.0.0.1:{port}"))
            for config in (api.config(named), proxied):
                async with transport(config) as http:
                    assert (await http.request(GET)).status == 200
                    async with http.stream(GET) as stream:
                        assert [chunk async for chunk in stream.chunks]

    assert HttpTransport(Api(hello, port=1).config())
    uvloop.run(main())
