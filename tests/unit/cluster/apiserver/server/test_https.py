"""The server on a real socket."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from ipaddress import ip_address
from pathlib import Path

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from yarl import URL

from quintant.cluster.apiserver.meta.status import REQUEST_LIMIT
from quintant.cluster.apiserver.response.gzip import FROM as PACKED_FROM
from quintant.cluster.apiserver.server.https import PIECE, serve
from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import CMS, config_map

pytestmark = pytest.mark.realtime


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with serve(ApiServer()) as url, aiohttp.ClientSession(url) as found:
        yield found


async def create(session: aiohttp.ClientSession, name: str, data: dict[str, str]) -> None:
    async with session.post(CMS, json=config_map(name, data)) as reply:
        assert reply.status == 201


async def test_requests_and_answers_pass_unchanged(session: aiohttp.ClientSession) -> None:
    await create(session, "a", {"k": "v"})
    async with session.get(f"{CMS}/a", params={"resourceVersion": "0"}) as reply:
        assert reply.headers["Content-Type"] == "application/json"
        assert reply.headers["Cache-Control"] == "no-cache, private"
        assert (await reply.json())["data"] == {"k": "v"}
    async with session.get(f"{CMS}/b") as reply:
        assert reply.status == 404
        assert (await reply.json())["reason"] == "NotFound"


async def test_large_answers_are_compressed_for_who_asks(session: aiohttp.ClientSession) -> None:
    await create(session, "large", {"k": "v " * PACKED_FROM})
    await create(session, "small", {"k": "v"})
    packing = {}
    for name in ("large", "small"):
        async with session.get(f"{CMS}/{name}", headers={"Accept-Encoding": "gzip"}) as reply:
            packing[name] = reply.headers.get("Content-Encoding")
            assert (await reply.json())["metadata"]["name"] == name
    assert packing == {"large": "gzip", "small": None}
    async with session.get(f"{CMS}/large", headers={"Accept-Encoding": "identity"}) as reply:
        assert "Content-Encoding" not in reply.headers


async def test_browsers_are_shown_indented_answers(session: aiohttp.ClientSession) -> None:
    async with session.get("/version", headers={"User-Agent": "curl/8"}) as reply:
        assert (await reply.text()).startswith('{\n  "major"')


async def test_a_watch_is_streamed_from_its_head_on(session: aiohttp.ClientSession) -> None:
    async with session.get(CMS, params={"watch": "1"}) as reply:
        assert reply.status == 200
        await create(session, "a", {})
        event = json.loads(await asyncio.wait_for(reply.content.readline(), 10))
        assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")


async def test_a_client_that_goes_away_frees_its_watch() -> None:
    server = ApiServer()
    async with serve(server) as url, aiohttp.ClientSession(url) as session:
        async with session.get(CMS, params={"watch": "1"}):
            assert server.watches == 1
        async with asyncio.timeout(10):
            while server.watches:
                async with session.get("/readyz") as reply:
                    await reply.read()


async def test_a_large_answer_arrives_whole(session: aiohttp.ClientSession) -> None:
    await create(session, "a", {"k": "v" * PIECE * 3})
    async with session.get(f"{CMS}/a") as reply:
        assert len((await reply.json())["data"]["k"]) == PIECE * 3


async def test_a_body_that_is_too_large_is_refused(session: aiohttp.ClientSession) -> None:
    async with session.post(CMS, data=BytesIO(b" " * (REQUEST_LIMIT + 1))) as reply:
        assert reply.status == 413


async def test_stopping_ends_open_watches() -> None:
    server = ApiServer()
    async with aiohttp.ClientSession() as session:
        async with serve(server) as url:
            watching = await session.get(f"{url}{CMS}", params={"watch": "1"})
        assert await asyncio.wait_for(watching.content.read(), 10) == b""


async def test_it_listens_on_loopback_unless_told_otherwise() -> None:
    async with serve(ApiServer()) as url:
        assert url.startswith("http://127.0.0.1:")


async def test_tls_is_spoken_with_a_context(tmp_path: Path) -> None:
    pem = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    trust = ssl.create_default_context(cafile=str(pem))
    async with serve(ApiServer(), ssl=context) as url, aiohttp.ClientSession(url) as session:
        assert url.startswith("https://")
        async with session.get("/readyz", ssl=trust) as reply:
            assert await reply.read() == b"ok"


def certificate(folder: Path) -> Path:
    """A self-signed certificate for loopback and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = folder / "server.pem"
    path.write_bytes(signed.public_bytes(serialization.Encoding.PEM) + private)
    return path


async def test_a_list_that_comes_in_pieces_is_packed_for_who_reads_gzip() -> None:
    async with serve(ApiServer()) as url, aiohttp.ClientSession(url) as session:
        for number in range(20):
            await create(session, f"c-{number}", {"text": "x" * PACKED_FROM})
        async with session.get(CMS, headers={"accept-encoding": "gzip"}) as packed:
            assert packed.headers["content-encoding"] == "gzip"
            names = [item["metadata"]["name"] for item in (await packed.json())["items"]]
        async with session.get(CMS, headers={"accept-encoding": "identity"}) as plain:
            assert "content-encoding" not in plain.headers
            assert [item["metadata"]["name"] for item in (await plain.json())["items"]] == names
        assert len(names) == 20


@pytest.mark.parametrize(
    ("expected", "first"),
    [("100-continue", b"HTTP/1.1 100 Continue"), ("miracles", b"HTTP/1.1 417 Expectation Failed")],
)
async def test_who_waits_to_send_its_body_is_told_to_go_on(expected: str, first: bytes) -> None:
    async with serve(ApiServer()) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(
            f"POST {CMS} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            f"Expect: {expected}\r\nContent-Length: 2\r\n\r\n".encode()
        )
        assert (await reader.readline()).rstrip() == first
        writer.close()
        await writer.wait_closed()


async def test_a_body_is_taken_as_it_is_whatever_its_encoding(
    session: aiohttp.ClientSession,
) -> None:
    raw, headers = json.dumps(config_map("a")), {"Content-Type": "application/json"}
    said = {**headers, "Content-Encoding": "gzip"}
    async with session.post(CMS, data=raw, headers=said, skip_auto_headers=[]) as reply:
        assert reply.status == 201


async def test_a_query_that_is_broken_in_parts_counts_as_far_as_it_goes(
    session: aiohttp.ClientSession,
) -> None:
    for query, code in (("limit=%zz", 200), ("limit=1&limit=x", 200), ("limit=x&limit=1", 400)):
        async with session.get(URL(f"{CMS}?{query}", encoded=True)) as reply:
            assert reply.status == code, query
