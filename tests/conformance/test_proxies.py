"""pods/proxy, services/proxy and nodes/proxy, as far as the API server answers them by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from conformance.hooks import Hooks, deny, hooked, rule
from conformance.target import Target, decoded
from unit.cluster.api import JsonObject

POD: JsonObject = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
SERVICE: JsonObject = {"spec": {"ports": [{"port": 80, "name": "main"}]}}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")


@pytest_asyncio.fixture
async def hooks(target: Target) -> AsyncIterator[Hooks]:
    async with hooked(target) as found:
        yield found


async def refused(target: Target, path: str, method: str = "GET") -> tuple[int, str]:
    reply = await target.send(method, path)
    return reply.status, decoded(reply.body)["message"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("subpath", ["", "/", "/a/b/"])
async def test_a_pod_without_an_address_is_not_reached(
    target: Target, method: str, subpath: str
) -> None:
    await target.create(target.path("pods"), {"metadata": {"name": "p"}, **POD})
    path = target.path("pods", "p:80", sub=f"proxy{subpath}")
    reply = await target.send(method, path)
    assert reply.status == 400
    if method != "HEAD":
        assert decoded(reply.body)["message"] == "address not allowed"


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254"])
async def test_an_address_that_no_pod_may_have_is_not_reached(target: Target, address: str) -> None:
    await target.create(target.path("pods"), {"metadata": {"name": "p"}, **POD})
    status = {"status": {"podIP": address, "podIPs": [{"ip": address}]}}
    await target.merge(target.path("pods", "p", sub="status"), status)
    code, message = await refused(target, target.path("pods", "p:80", sub="proxy/x"))
    assert code == 400
    assert message.startswith("address not allowed")


@pytest.mark.parametrize(
    ("plural", "name", "code", "message"),
    [
        ("pods", "p", 404, 'pods "p" not found'),
        ("pods", "http:p:80", 404, 'pods "p" not found'),
        ("pods", "ftp:p:80", 400, 'invalid pod request "ftp:p:80"'),
        ("pods", "a:b:c:d", 400, 'invalid pod request "a:b:c:d"'),
        ("services", "s", 404, 'services "s" not found'),
        ("services", "s:80", 404, 'services "s" not found'),
        ("services", ":80", 400, 'invalid service request ":80"'),
    ],
)
async def test_what_is_not_there_is_named(
    target: Target, plural: str, name: str, code: int, message: str
) -> None:
    path = target.path(plural, name, sub="proxy/x")
    assert await refused(target, path) == (code, message)


async def test_a_service_needs_endpoints_that_are_pods(target: Target) -> None:
    await target.create(target.path("services"), {"metadata": {"name": "s"}, **SERVICE})
    other = target.path("services", "s:81", sub="proxy/x")
    assert await refused(target, other) == (503, 'no service port 81 found for service "s"')
    await target.create(target.path("endpoints"), {"metadata": {"name": "s"}})
    path = target.path("services", "s:80", sub="proxy/x")
    assert await refused(target, path) == (503, 'no endpoints available for service "s"')
    ports = [{"port": 80, "name": "main"}]
    written = {"subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": ports}]}
    await target.merge(target.path("endpoints", "s"), written)
    assert await refused(target, path) == (503, 'no endpoints available for service "s:80"')


async def test_a_node_that_is_not_there_is_named(target: Target) -> None:
    name = f"{target.namespace}-none"
    path = target.elsewhere("", "nodes", name, sub="proxy/healthz")
    assert await refused(target, path) == (404, f'nodes "{name}" not found')


@pytest.mark.parametrize("sub", ["proxy", "proxy/a"])
async def test_a_dry_run_is_refused(target: Target, sub: str) -> None:
    reply = await target.send("GET", target.path("pods", "p", sub=sub), dryRun="All")
    assert (reply.status, decoded(reply.body)["message"]) == (400, "dryRun is not supported")


async def test_discovery_names_the_proxies(target: Target) -> None:
    listed = await target.get("/api/v1")
    found = {
        each["name"]: (each["kind"], each["verbs"])
        for each in listed["resources"]
        if each["name"].endswith("/proxy")
    }
    verbs = ["create", "delete", "get", "patch", "update"]
    assert found == {
        "nodes/proxy": ("NodeProxyOptions", verbs),
        "pods/proxy": ("PodProxyOptions", verbs),
        "services/proxy": ("ServiceProxyOptions", verbs),
    }


async def test_a_webhook_may_refuse_a_proxied_request(target: Target, hooks: Hooks) -> None:
    await target.create(target.path("pods"), {"metadata": {"name": "p"}, **POD})
    hook = hooks.hook(deny("no", 403, reason="Forbidden"))
    await hooks.validating(hook, rule("pods/proxy", "CONNECT"))
    reply = await refused(target, target.path("pods", "p", sub="proxy/a/"))
    assert reply == (403, f'admission webhook "{hook.name}" denied the request: no')
    assert hook.told() == ["CONNECT pods/proxy"]
