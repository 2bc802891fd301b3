"""A group that another server serves is reached through this one, while that server answers."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec
import pytest
import pytest_asyncio

import patience
from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.aggregator.discovery import MOST_RESOURCES
from quintant.cluster.apiserver.meta.user import MASTERS, User
from quintant.cluster.apiserver.server.https import serve
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.address import BindAddress
from unit.cluster.api import CMS, CRDS, Api, JsonObject, foo_definition
from unit.cluster.apiserver.aggregator.extension_server import (
    API_SERVICE,
    API_SERVICES,
    FRONT_PROXY,
    GROUP,
    HATS,
    NAME,
    ROOT,
    SERVICES,
    ExtensionServer,
    api_service,
    available,
    bundle,
    install,
    point_at,
)

pytestmark = pytest.mark.realtime

WITHIN = 30.0
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
HAT_PATH = f"{ROOT}/namespaces/default/hats"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
NO_NAME = f"{'a' * 64}.test"
"""Longer than a label may be that is looked up, and a name for Kubernetes all the same."""
CONFIG = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"


@asynccontextmanager
async def running(*, rbac: bool = False) -> AsyncIterator[Api]:
    server = ApiServer(front_proxy=FRONT_PROXY, rbac=rbac)
    server.tokens.add("admin", User("admin", (MASTERS,), extra={"a/b": ("c", "d")}))
    async with patience.within(WITHIN), server.aggregator.running():
        yield Api(server, "admin")


@pytest_asyncio.fixture
async def api() -> AsyncIterator[Api]:
    async with running() as found:
        yield found


@pytest_asyncio.fixture
async def tailor(api: Api) -> AsyncIterator[ExtensionServer]:
    """An extension server that is installed, and answers."""
    server = ExtensionServer()
    async with server.serving():
        await install(api, server)
        await available(api, "Passed")
        yield server


async def discovered(api: Api) -> JsonObject:
    reply = await api.send("GET", "/apis", headers={"accept": AGGREGATED})
    groups = msgspec.json.decode(reply.body)["items"]
    return {each["metadata"]["name"]: each for each in groups}


async def test_requests_for_the_group_are_answered_by_its_server(
    api: Api, tailor: ExtensionServer
) -> None:
    made = await api.create(HAT_PATH, {"kind": "Hat"})
    assert made == {"kind": "Hat"}
    reply = await api.send("GET", f"{ROOT}/none")
    assert (reply.status, reply.body) == (404, b"no such hat")
    assert (await api.get(ROOT))["groupVersion"] == f"{GROUP}/v1"


async def test_the_server_learns_who_asks_and_nobody_can_say_to_be_another(
    api: Api, tailor: ExtensionServer
) -> None:
    forged = {
        "x-remote-user": "somebody",
        "x-remote-group": "system:masters",
        "x-remote-extra-scopes": "all",
        "authorization": "Bearer admin",
    }
    await api.create(HAT_PATH, {}, headers=forged)
    fields = tailor.fields(HAT_PATH)
    named = [each for each in fields if each[0].startswith("x-remote")]
    assert named == [
        ("x-remote-user", "admin"),
        ("x-remote-group", "system:masters"),
        ("x-remote-group", "system:authenticated"),
        ("x-remote-extra-a%2fb", "c"),
        ("x-remote-extra-a%2fb", "d"),
    ]
    assert "authorization" not in dict(fields)


async def test_who_may_not_is_refused_before_the_server_is_asked() -> None:
    async with running(rbac=True) as api:
        tailor = ExtensionServer()
        async with tailor.serving():
            await install(api, tailor)
            await available(api, "Passed")
            api.server.tokens.add("nobody", User("nobody"))
            reply = await Api(api.server, "nobody").send("GET", HAT_PATH)
            assert reply.status == 403
            assert not any(each.path == HAT_PATH for each in tailor.asked)


async def test_a_watch_brings_each_event_as_it_comes_and_ends_with_its_client(
    api: Api, tailor: ExtensionServer
) -> None:
    call = ApiRequest("GET", f"{ROOT}/hats", {"watch": "true"})
    async with api.transport.stream(call) as stream:
        for name in (b"one", b"two"):
            tailor.events.put_nowait(name)
            assert await anext(stream.chunks) == name
        assert tailor.watches == 1
    await tailor.unwatched.wait()
    assert tailor.watches == 0


async def test_discovery_has_the_group_in_all_its_forms(api: Api, tailor: ExtensionServer) -> None:
    found = (await discovered(api))[GROUP]["versions"][0]
    assert found["freshness"] == "Current"
    kind = {"group": GROUP, "version": "v1", "kind": "Hat"}
    assert found["resources"] == [
        {
            "resource": "hats",
            "responseKind": kind,
            "scope": "Namespaced",
            "singularResource": "hat",
            "verbs": ["get", "list"],
            "shortNames": ["h"],
            "subresources": [
                {"subresource": "brim", "responseKind": kind | {"kind": "Brim"}, "verbs": ["get"]}
            ],
        }
    ]
    groups = (await api.get("/apis"))["groups"]
    assert [each["name"] for each in groups][-1] == GROUP
    assert (await api.get(f"/apis/{GROUP}"))["preferredVersion"]["version"] == "v1"
    index = (await api.get("/openapi/v3"))["paths"]
    assert index[f"apis/{GROUP}/v1"]["serverRelativeURL"] == f"/openapi/v3{ROOT}?hash=ABC"
    assert (await api.get(f"/openapi/v3{ROOT}"))["info"] == {"title": "hats"}


async def test_a_server_that_is_away_is_503_and_the_rest_is_intact(
    api: Api, tailor: ExtensionServer
) -> None:
    before = await discovered(api)
    await point_at(api, BindAddress("127.0.0.1", 1))
    condition = await available(api, "FailedDiscoveryCheck")
    url = f"https://127.0.0.1:1{ROOT}"
    assert condition["message"] == (
        f'failing or missing response from {url}: Get "{url}": dial tcp 127.0.0.1:1: '
        "connect: connection refused"
    )
    reply = await api.send("GET", HAT_PATH)
    assert (reply.status, reply.body) == (503, b"service unavailable\n")
    after = await discovered(api)
    assert after.pop(GROUP)["versions"][0]["freshness"] == "Stale"
    assert after == {name: each for name, each in before.items() if name != GROUP}
    assert (await api.get("/api/v1"))["resources"]
    await point_at(api, tailor.address)
    await available(api, "Passed")
    assert (await api.create(HAT_PATH, {})) == {}


async def test_a_server_that_is_slow_is_503(api: Api) -> None:
    tailor = ExtensionServer()
    tailor.answers.clear()
    async with tailor.serving():
        await install(api, tailor)
        condition = await available(api, "FailedDiscoveryCheck")
        assert condition["message"].endswith("context deadline exceeded")
        assert (await api.send("GET", HAT_PATH)).status == 503
        tailor.answers.set()
        await available(api, "Passed")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("other.default.svc", f"certificate is valid for other.default.svc, not {NAME}"),
        (NAME, "certificate signed by unknown authority"),
    ],
)
async def test_a_server_with_the_wrong_certificate_is_sent_nothing(
    api: Api, name: str, said: str
) -> None:
    tailor, other = ExtensionServer(), ExtensionServer()
    believed = tailor if name != NAME else other
    async with tailor.serving(name):
        await install(api, tailor)
        await api.merge(API_SERVICE, {"spec": {"caBundle": bundle(believed)}})
        condition = await available(api, "FailedDiscoveryCheck")
        while said not in condition["message"]:
            condition = await available(api, "FailedDiscoveryCheck")
        assert f"tls: failed to verify certificate: x509: {said}" in condition["message"]
        assert (await api.send("GET", HAT_PATH)).status == 503
        if believed is tailor:
            assert not tailor.asked


async def test_a_server_may_be_believed_without_a_certificate_that_fits(api: Api) -> None:
    tailor = ExtensionServer()
    async with tailor.serving("other.test"):
        await install(api, tailor, caBundle=None, insecureSkipTLSVerify=True)
        await available(api, "Passed")


@pytest.mark.parametrize(
    ("spec", "endpoints", "reason"),
    [
        (None, False, "ServiceNotFound"),
        ({"ports": [{"port": 444}]}, False, "ServicePortError"),
        ({"ports": [{"port": 443}]}, False, "EndpointsNotFound"),
        ({"ports": [{"port": 443}]}, True, "MissingEndpoints"),
    ],
)
async def test_what_stands_between_is_named(
    api: Api, spec: JsonObject | None, endpoints: bool, reason: str
) -> None:
    services = "/api/v1/namespaces/default/services"
    if spec is not None:
        await api.create(services, {"metadata": {"name": "tailor"}, "spec": spec})
    if endpoints:
        path = services.replace("services", "endpoints")
        await api.create(path, {"metadata": {"name": "tailor"}})
    await api.create(API_SERVICES, api_service())
    assert (await available(api, reason))["status"] == "False"
    assert (await api.send("GET", HAT_PATH)).status == 503


@pytest.mark.parametrize(
    ("service", "endpoint_slice", "reason"),
    [
        ({"type": "ExternalName", "externalName": NO_NAME}, None, "FailedDiscoveryCheck"),
        (
            {"ports": [{"port": 443}]},
            {
                "addressType": "FQDN",
                "endpoints": [{"addresses": [NO_NAME]}],
                "ports": [{"port": 1}],
            },
            "FailedDiscoveryCheck",
        ),
        (
            {"ports": [{"port": 443}]},
            {
                "addressType": "IPv4",
                "endpoints": [{"addresses": ["127.0.0.1"]}],
                "ports": [{"name": ""}],
            },
            "MissingEndpoints",
        ),
    ],
    ids=["external name", "host name", "no number"],
)
async def test_endpoints_that_nobody_could_connect_to_harm_their_own_group_alone(
    api: Api, service: JsonObject, endpoint_slice: JsonObject | None, reason: str
) -> None:
    await api.create(SERVICES, {"metadata": {"name": "tailor"}, "spec": service})
    if endpoint_slice is not None:
        labels = {"kubernetes.io/service-name": "tailor"}
        metadata = {"name": "tailor", "labels": labels}
        await api.create(SLICES, {"metadata": metadata, **endpoint_slice})
    await api.create(API_SERVICES, api_service(insecureSkipTLSVerify=True))
    assert (await available(api, reason))["status"] == "False"
    await api.create(CRDS, foo_definition())
    async with api.watch(API_SERVICES, fieldSelector="metadata.name=v1.example.com") as events:
        assert await events.told(WITHIN) == ("ADDED", "v1.example.com")


@pytest.mark.parametrize(
    "answer",
    [
        b"[" * 200_000,
        b"null",
        b'{"groupVersion": "apps/v1", "resources": []}',
        b'{"groupVersion": "wardrobe.test/v1", "resources": [{"name": 7}]}',
        msgspec.json.encode(HATS | {"resources": HATS["resources"] * MOST_RESOURCES}),  # type: ignore[operator]
        b"x" * (5 << 20),
    ],
    ids=["deep", "null", "another group", "wrong type", "many", "large"],
)
async def test_what_a_server_says_of_itself_spoils_its_own_version_alone(
    api: Api, answer: bytes
) -> None:
    tailor = ExtensionServer()
    tailor.resources = answer
    async with tailor.serving():
        await install(api, tailor)
        await available(api, "FailedDiscoveryCheck" if len(answer) > 4 << 20 else "Passed")
        found = await discovered(api)
        version = {"version": "v1", "resources": [], "freshness": "Stale"}
        assert found[GROUP]["versions"] == [version]
        assert len(found) > 15


async def test_a_list_without_an_end_does_not_fill_the_memory_of_who_asked_in_this_process(
    api: Api, tailor: ExtensionServer
) -> None:
    reply = await api.send("GET", f"{ROOT}/endless")
    assert reply.status == 503
    assert b"the response is larger than" in reply.body


async def test_a_redirect_is_not_followed_nor_passed_on(api: Api, tailor: ExtensionServer) -> None:
    reply = await api.send("GET", f"{ROOT}/elsewhere")
    assert reply.status == 502
    assert "location" not in reply.headers


async def test_the_group_is_gone_with_its_apiservice(api: Api, tailor: ExtensionServer) -> None:
    await api.delete(API_SERVICE)
    assert GROUP not in await discovered(api)
    assert (await api.send("GET", HAT_PATH)).status == 404


async def test_what_the_server_serves_itself_is_registered_as_local(api: Api) -> None:
    names = await api.names(API_SERVICES)
    assert {"v1.", "v1.apps", "v2.autoscaling", "v1.events.k8s.io"} <= set(names)
    core = await api.get(f"{API_SERVICES}/v1.")
    assert core["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "onstart"}
    assert core["spec"] == {"version": "v1", "groupPriorityMinimum": 18000, "versionPriority": 1}
    (condition,) = core["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("True", "Local")


async def test_custom_resources_are_registered_as_long_as_they_are_defined(api: Api) -> None:
    async with api.watch(API_SERVICES, fieldSelector="metadata.name=v1.example.com") as events:
        await api.create(CRDS, foo_definition())
        assert await events.told(WITHIN) == ("ADDED", "v1.example.com")
        await api.delete(f"{CRDS}/foos.example.com")
        assert await events.told(WITHIN) == ("DELETED", "v1.example.com")


async def test_extension_servers_find_what_to_believe(api: Api) -> None:
    data = (await api.get(CONFIG))["data"]
    assert data["requestheader-allowed-names"] == '["front-proxy-client"]'
    assert data["requestheader-client-ca-file"] == FRONT_PROXY.authority.decode()
    assert data["client-ca-file"].startswith("-----BEGIN CERTIFICATE")


async def test_restoring_a_snapshot_brings_back_which_server_serves_what(
    api: Api, tailor: ExtensionServer
) -> None:
    with_tailor = api.server.snapshot()
    await api.delete(API_SERVICE)
    api.server.restore(with_tailor)
    assert (await api.create(HAT_PATH, {})) == {}
    assert (await api.get(CMS))["items"] == []


async def test_no_front_proxy_means_503_and_no_connection() -> None:
    api = Api(ApiServer())
    async with patience.within(WITHIN), AsyncExitStack() as stack:
        await stack.enter_async_context(api.server.aggregator.running())
        await api.create(API_SERVICES, api_service(caBundle=b64encode(b"none").decode()))
        assert (await api.send("GET", HAT_PATH)).status == 503


async def test_another_protocol_goes_through(api: Api, tailor: ExtensionServer) -> None:
    async with serve(api.server) as url:
        address = url.removeprefix("http://")
        reader, writer = await asyncio.open_connection(*address.split(":"))
        lines = ("Connection: Upgrade, X-Remote-User", "Upgrade: echo", f"Host: {address}")
        head = "\r\n".join((f"GET {ROOT}/talk HTTP/1.1", "Authorization: Bearer admin", *lines))
        writer.write(f"{head}\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        writer.write(b"hat?")
        assert await reader.readexactly(4) == b"hat?"
        fields = tailor.fields(f"{ROOT}/talk")
        assert [value for name, value in fields if name == "connection"] == ["Upgrade"]
        assert ("x-remote-user", "admin") in fields
        writer.close()


async def test_an_error_of_who_runs_it_is_raised_as_it_is() -> None:
    with pytest.raises(ValueError, match="mine"):
        async with running():
            raise ValueError("mine")
