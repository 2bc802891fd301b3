"""shifu beside upstream's own agents, install bundle and samples.

Every request is sent to a deviceShifu of ours and to one of upstream's, before the same device, and
both must answer alike. Ours is composed by the operator, theirs is a Deployment of the user's own.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiomqtt
import pytest
import pytest_asyncio
from msgspec.structs import replace

import patience
from envtest import RealCluster
from interop.conftest import Aloud
from quintant import Client, Config
from quintant.agents.broker.broker import Broker
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.core.yaml import load_all
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.api.names import DEVICES, GROUP
from testbeds.devices import ask
from testbeds.shifu_installation import FOLDERS, installed_on, kubectl_at
from testbeds.shifu_real import FACADE, QUICK, Answer, ShifuSite, opened
from testbeds.talkative_device import PLACE, TalkativeDevice, talkative_device
from testbeds.upstream_shifu import (
    bundle,
    documents,
    samples,
    upstream_deployment,
    upstream_programs,
    upstream_source,
)

OURS, THEIRS = "ours", "theirs"
COMPARED = ("content-type", "x-device", "etag", "x-content-type-options")
"""The fields of a response that callers see; lengths, dates and connections are a server's own."""
_TIME = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? \+0000 UTC( m=\+\d+\.\d+)?")


class SentRequest(NamedTuple):
    """What a caller sends to both."""

    path: str
    method: str = "GET"
    body: bytes = b""
    headers: dict[str, str] = {}

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.body.decode()[:20]}".strip()


FORM = {"content_type": "application/json"}
HTTP_REQUESTS = (
    SentRequest("/hello"),
    SentRequest("/health"),
    SentRequest("/nope"),
    SentRequest("/"),
    SentRequest("/hello/"),
    SentRequest("/nested/name"),
    SentRequest("/on"),
    SentRequest("/hello", "DELETE"),
    SentRequest("/hello", "PATCH"),
    SentRequest("/hello", "OPTIONS"),
    SentRequest("/hello", "HEAD"),
    SentRequest("/hello?timeout=abc"),
    SentRequest("/hello?timeout=1.5"),
    SentRequest("/hello?timeout=99999999999999999999"),
    SentRequest("/hello?timeout=0"),
    SentRequest("/echo?timeout=5"),
    SentRequest("/echo?x=1&x=2&y=b"),
    SentRequest("/echo", "POST", b'{"a":1}', FORM),
    SentRequest("/echo", "PUT", b"plain", {"content_type": "text/plain", "x_caller": "me"}),
    SentRequest("/echo", "PUT", b""),
    SentRequest("/echo", "GET", b"", {"accept": "image/jpeg", "x_caller": "you"}),
    SentRequest("/created"),
    SentRequest("/empty"),
    SentRequest("/fail"),
    SentRequest("/page"),
    SentRequest("/bytes"),
    SentRequest("/large"),
    SentRequest("/stream"),
    SentRequest("/missing"),
)
MQTT_REQUESTS = (
    SentRequest("/read"),
    SentRequest("/read", "DELETE"),
    SentRequest("/nope"),
    SentRequest("/health"),
    SentRequest("/write", "PUT", b"on"),
    SentRequest("/write", "POST", b"off"),
    SentRequest("/write", "PUT", b"start"),
    SentRequest("/write", "PUT", b"blocked"),
)
SOCKET_REQUESTS = (
    SentRequest("/cmd", "POST", b'{"command":"12345678","timeout":3}', FORM),
    SentRequest("/cmd", "PUT", b'{"command":"<&\\" \\u00e4 x"}', FORM),
    SentRequest("/cmd", "POST", b'{"command":"12345678"}', {"content_type": "text/plain"}),
    SentRequest("/cmd", "POST", b'{"command":"12345678"}'),
    SentRequest("/nope", "POST", b"{}", FORM),
    SentRequest("/health"),
)
HEX_REQUESTS = (
    SentRequest("/cmd", "POST", b'{"command":"00ff10203040A0f0"}', FORM),
    SentRequest("/cmd", "POST", b'{"command":"0"}', FORM),
    SentRequest("/cmd", "POST", b'{"command":"zz"}', FORM),
)
CONFIG_HTTP = {
    "instructions": "instructions:\n"
    + "".join(
        f"  {each}:\n"
        for each in (
            *("hello", "nested/name", "on", "echo", "created", "empty", "fail", "page", "bytes"),
            *("large", "stream", "slow", "missing"),
        )
    ),
    "telemetries": "telemetries: {health: {properties: {instruction: hello, initialDelayMs: 0}}}",
}
CONFIG_MQTT = """
instructions:
  read: {protocolPropertyList: {MQTTTopic: /device/in}}
  write: {protocolPropertyList: {MQTTTopic: /device/%s}}
"""
CONFIG_SOCKET = {"instructions": "instructions: {cmd: }"}
SOCKET_SETTING = {"networkType": "tcp", "encoding": "utf-8", "bufferLength": 8}


@asynccontextmanager
async def pair(
    site: ShifuSite, kind: str, protocol: str, address: str, configs: Any, **spec: Any
) -> AsyncIterator[dict[str, str]]:
    """Two deviceShifus before one device; the address of each one's facade."""
    found = {}
    for who in (OURS, THEIRS):
        name = f"{kind}-{who}"
        config = configs.get(who, configs)
        if who == THEIRS:
            await site.apply(upstream_deployment(name, protocol))
        await site.device(name, protocol, address, config, **spec)
        async with patience.within(60):
            found[who] = await _facade(site, name)
    yield found


async def _facade(site: ShifuSite, name: str) -> str:
    while True:
        try:
            pod = await site.shifu(name)
        except ValueError:
            pod = None
        if pod is not None and pod.ready:
            return pod.status.pod_ip
        await asyncio.sleep(0.1)


async def both(places: dict[str, str], request: SentRequest) -> dict[str, Answer]:
    """What each answers, as far as it matters."""
    found = {}
    for who, place in places.items():
        async with patience.within(20):
            status, fields, body = await ask(
                place, FACADE, request.path, request.method, request.body, **request.headers
            )
        told = {name: fields[name] for name in COMPARED if name in fields}
        found[who] = status, told, _TIME.sub(b"TIME", body)
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(request: pytest.FixtureRequest) -> AsyncIterator[ShifuSite]:
    """A site that keeps upstream's agents: phases of both are told."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    programs = upstream_programs(capture.global_and_fixture_disabled)
    options = replace(QUICK, crd_flavor="upstream", telemetry_service=False)
    async with opened(options, programs) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def device() -> AsyncIterator[TalkativeDevice]:
    async with talkative_device() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(site: ShifuSite, device: TalkativeDevice) -> AsyncIterator[dict[str, str]]:
    async with pair(site, "http", "HTTP", device.address, CONFIG_HTTP) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def broker() -> AsyncIterator[int]:
    made = Broker()
    server = await asyncio.start_server(made.serve, PLACE, 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    made.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def mqtt(site: ShifuSite, broker: int) -> AsyncIterator[dict[str, str]]:
    configs = {
        who: {"instructions": CONFIG_MQTT % who, "controlMsgs": "start: finished\n"}
        for who in (OURS, THEIRS)
    }
    async with pair(site, "mqtt", "MQTT", f"{PLACE}:{broker}", configs) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def echo() -> AsyncIterator[str]:
    """A device that sends back what it gets."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(1024):
            writer.write(piece)
        writer.close()

    server = await asyncio.start_server(answer, PLACE, 0)
    yield f"{PLACE}:{server.sockets[0].getsockname()[1]}"
    server.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def socket(site: ShifuSite, echo: str) -> AsyncIterator[dict[str, str]]:
    settings = {"SocketSetting": SOCKET_SETTING}
    async with pair(
        site, "socket", "Socket", echo, CONFIG_SOCKET, protocolSettings=settings
    ) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hexadecimal(site: ShifuSite, echo: str) -> AsyncIterator[dict[str, str]]:
    settings = {"SocketSetting": {**SOCKET_SETTING, "encoding": "hex"}}
    async with pair(site, "hex", "Socket", echo, CONFIG_SOCKET, protocolSettings=settings) as made:
        yield made


together = pytest.mark.asyncio(loop_scope="module")


@together
@pytest.mark.parametrize("request_", HTTP_REQUESTS, ids=str)
async def test_http_is_answered_alike(http: dict[str, str], request_: SentRequest) -> None:
    found = await both(http, request_)
    assert found[OURS] == found[THEIRS]


@together
@pytest.mark.parametrize("request_", MQTT_REQUESTS, ids=str)
async def test_mqtt_is_answered_alike(mqtt: dict[str, str], request_: SentRequest) -> None:
    found = await both(mqtt, request_)
    assert found[OURS] == found[THEIRS]


@together
async def test_mqtt_shows_the_newest_message_alike(mqtt: dict[str, str], broker: int) -> None:
    message = '<b>"21 °C" & more\n</b>'
    async with aiomqtt.Client(PLACE, broker) as client:
        await client.publish("/device/in", message, qos=1)
    async with patience.within(10):
        while True:
            found = await both(mqtt, SentRequest("/read"))
            if all(b"21" in body for _, _, body in found.values()):
                break
            await asyncio.sleep(0.05)
    assert found[OURS] == found[THEIRS]


@together
@pytest.mark.parametrize("request_", SOCKET_REQUESTS, ids=str)
async def test_socket_is_answered_alike(socket: dict[str, str], request_: SentRequest) -> None:
    found = await both(socket, request_)
    assert found[OURS] == found[THEIRS]


@together
@pytest.mark.parametrize("request_", HEX_REQUESTS, ids=str)
async def test_hexadecimal_socket_is_answered_alike(
    hexadecimal: dict[str, str], request_: SentRequest
) -> None:
    found = await both(hexadecimal, request_)
    assert found[OURS] == found[THEIRS]


@together
async def test_what_fails_has_the_same_status_and_a_text_of_its_own(
    http: dict[str, str], socket: dict[str, str]
) -> None:
    slow = await both(http, SentRequest("/slow?timeout=1"))
    assert slow[OURS][0] == slow[THEIRS][0] == 503
    broken = await both(socket, SentRequest("/cmd", "POST", b"no JSON", FORM))
    assert broken[OURS][0] == broken[THEIRS][0] == 400


@together
async def test_only_upstreams_agent_shows_its_token_to_the_device(
    http: dict[str, str], device: TalkativeDevice
) -> None:
    for who, shown in ((OURS, False), (THEIRS, True)):
        device.authorizations.clear()
        await ask(http[who], FACADE, "/echo")
        assert any(each.startswith("Bearer ey") for each in device.authorizations) is shown
        device.authorizations.clear()
        await ask(http[who], FACADE, "/echo", authorization="Bearer of-the-caller")
        assert "Bearer of-the-caller" in device.authorizations


@together
async def test_both_tell_how_the_device_is_where_the_kind_is_upstreams(
    site: ShifuSite, http: dict[str, str]
) -> None:
    for who in (OURS, THEIRS):
        await site.phase(f"http-{who}", "Running")
    theirs = await site.client.get(EdgeDevice, f"http-{THEIRS}", DEVICES)
    assert theirs.status is not None


@pytest.fixture(scope="module")
def real_cluster() -> Iterator[RealCluster]:
    with RealCluster() as cluster:
        yield cluster


@pytest.fixture(params=["embedded", "real"])
def server(request: pytest.FixtureRequest) -> Path:
    """The kubeconfig of each kind of server."""
    if request.param == "embedded":
        return request.getfixturevalue("kubeconfig")  # type: ignore[no-any-return]
    return request.getfixturevalue("real_cluster").kubeconfig  # type: ignore[no-any-return]


async def test_a1_install_bundle_and_samples_apply_unchanged_and_our_kinds_over_theirs(
    server: Path, aloud: Aloud
) -> None:
    source = upstream_source(aloud)
    files = samples(source)
    assert len(files) == 152
    await kubectl_at(server, "apply", "-f", str(bundle(source)))
    await kubectl_at(server, "wait", "--for=condition=Established", "crd", "--all")
    # Three samples want the same port of every node: each by itself.
    alone = [file for file in files if "nodePort:" in file.read_text()]
    assert len(alone) == 3
    await kubectl_at(server, "apply", *_named(set(files).difference(alone)))
    for file in alone:
        await kubectl_at(server, "apply", "-f", str(file))
        await kubectl_at(server, "delete", "-f", str(file))
    ours = [file for file in files if GROUP in file.read_text()]
    devices = [each for each in documents(ours) if each["kind"] == "EdgeDevice"]
    assert len(devices) == 29
    # Several samples have a device of the same name.
    wanted = {_key(each) for each in devices}
    assert await _devices(server) == wanted

    for folder in FOLDERS.values():
        await kubectl_at(server, "apply", "-k", str(folder))
        await kubectl_at(server, "apply", *_named(ours))
        assert await _devices(server) == wanted


def _named(files: Iterable[Path]) -> list[str]:
    return [word for file in sorted(files) for word in ("-f", str(file))]


async def _devices(server: Path) -> set[str]:
    said = await kubectl_at(server, "get", "edgedevices.shifu.edgenesis.io", "-A", "-o", "yaml")
    (found,) = load_all(said.encode())
    return {_key(each) for each in found["items"]}


def _key(manifest: dict[str, Any]) -> str:
    meta = manifest["metadata"]
    return f"{meta.get('namespace', 'default')}/{meta['name']}"


async def test_upstreams_agent_tells_the_phase_on_a_real_server_where_its_folder_is_installed(
    real_cluster: RealCluster, tmp_path: Path, aloud: Aloud
) -> None:
    (entry,) = (each for each in upstream_programs(aloud) if each.image.endswith("-http"))
    transport = HttpTransport(Config.load(real_cluster.kubeconfig))
    client = Client(Rest(transport), manager="tests")
    try:
        async with (
            talkative_device() as device,
            installed_on(real_cluster, client, "upstream", tmp_path) as made,
        ):
            await made.device("upstream", "HTTP", device.address)
            root = tmp_path / "root"
            place = root / "etc" / "edgedevice" / "config"
            place.mkdir(parents=True)
            for key, text in CONFIG_HTTP.items():
                (place / key).write_text(text)
            environ = {
                **await made.account(), "QUINTANT_ROOT": str(root), "QUINTANT_POD_IP": "127.7.7.7",
                "EDGEDEVICE_NAME": "upstream", "EDGEDEVICE_NAMESPACE": DEVICES,
            }  # fmt: skip
            child = await asyncio.create_subprocess_exec(
                *entry.argv, env=environ, stdout=-3, stderr=-3
            )
            try:
                await made.phase("upstream", "Running")
            finally:
                child.kill()
                await child.wait()
    finally:
        await transport.close()
