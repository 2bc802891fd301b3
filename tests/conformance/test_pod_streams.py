"""pods/exec as far as the API server answers it: who is meant, who may, and refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from conformance.hooks import Hooks, deny, hooked, rule
from conformance.target import Target, decoded
from conformance.test_pod_logs import filled

UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==",
    "sec-websocket-protocol": "v5.channel.k8s.io",
}


@pytest_asyncio.fixture
async def hooks(target: Target) -> AsyncIterator[Hooks]:
    async with hooked(target) as found:
        yield found


@pytest.mark.parametrize("sub", ["exec", "attach"])
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("headers", [UPGRADE, {}], ids=["upgrade", "plain"])
@pytest.mark.parametrize(
    ("name", "query", "code", "message"),
    [
        (
            "two",
            {},
            400,
            "a container name must be specified for pod two, choose one of: [x a b]",
        ),
        ("one", {"container": "zzz"}, 400, "container zzz is not valid for pod one"),
        ("one", {}, 400, "pod one does not have a host assigned"),
        ("none", {}, 404, 'pods "none" not found'),
        ("lost", {}, 404, 'pods "nowhere" not found'),
    ],
)
async def test_what_is_wrong_with_the_pod_is_said_before_any_protocol(
    target: Target,
    sub: str,
    method: str,
    headers: dict[str, str],
    name: str,
    query: dict[str, str],
    code: int,
    message: str,
) -> None:
    await filled(target)
    path = target.path("pods", name, sub=sub)
    wanted = {"command": "ls", "stdout": "true", **query}
    reply = await target.send(method, path, None, headers=headers, **wanted)
    assert (reply.status, decoded(reply.body)["message"]) == (code, message)


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("one", 400, "pod one does not have a host assigned"),
        ("none", 404, 'pods "none" not found'),
        ("lost", 404, 'pods "nowhere" not found'),
    ],
)
async def test_ports_are_forwarded_to_pods_that_have_a_node(
    target: Target, name: str, code: int, message: str
) -> None:
    await filled(target)
    path = target.path("pods", name, sub="portforward")
    refused = await target.ask("GET", path, None, code, ports="80")
    assert refused["message"] == message


async def test_sessions_are_neither_written_nor_deleted(target: Target) -> None:
    await filled(target)
    path = target.path("pods", "one", sub="exec")
    for method in ("PUT", "PATCH", "DELETE"):
        await target.ask(method, path, {}, 405)


async def test_a_webhook_may_refuse_a_session(target: Target, hooks: Hooks) -> None:
    await filled(target)
    hook = hooks.hook(deny("no", 403, reason="Forbidden"))
    await hooks.validating(hook, rule("pods/exec", "CONNECT"))
    path = target.path("pods", "one", sub="exec")
    reply = await target.send("GET", path, command="ls", stdout="true")
    refused = f'admission webhook "{hook.name}" denied the request: no'
    assert (reply.status, decoded(reply.body)["message"]) == (403, refused)
    assert hook.told() == ["CONNECT pods/exec"]


async def test_a_webhook_that_selects_objects_by_labels_is_not_asked_about_a_session(
    target: Target, hooks: Hooks
) -> None:
    """What a session is asked with can have no labels."""
    await filled(target)
    hook = hooks.hook(deny("no", 403, reason="Forbidden"))
    absent = {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}
    await hooks.validating(hook, rule("pods/exec", "CONNECT"), objectSelector=absent)
    path = target.path("pods", "one", sub="exec")
    await target.ask("GET", path, None, 400, command="ls", stdout="true")
    assert hook.told() == []
