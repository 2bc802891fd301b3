"""The role of a console: what it shows, to be read."""

from __future__ import annotations

from quintant.api.core import Namespace
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, InProcessTransport
from quintant.cluster.apiserver.meta.user import service_account
from quintant.console.role import NAME, console_rbac, console_rules, figures_rbac
from quintant.core.errors import ApiError
from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceSpec
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.api.telemetry import TelemetryService
from quintant.testing import InProcessCluster, named
from testbeds.console import running_console, systems

PANELS = [each.panel for each in systems()]


def test_it_may_read_and_do_nothing_else() -> None:
    verbs = {verb for rule in console_rules(PANELS) for verb in rule.verbs}
    assert verbs == {"get", "list", "watch"}


def test_neither_secrets_nor_config_maps_are_in_it() -> None:
    resources = {each for rule in console_rules(PANELS, reviews=True) for each in rule.resources}
    assert not resources & {
        "secrets",
        "configmaps",
        "*",
        "serviceaccounts",
        "pods/log",
        "pods/exec",
        "pods/proxy",
    }
    assert "*" not in {each for rule in console_rules(PANELS) for each in rule.api_groups}


async def test_figures_are_a_role_of_their_own_in_the_namespaces_of_operators_alone() -> None:
    cluster = InProcessCluster(rbac=True)
    try:
        for name in ("shifu-system", "users"):
            await cluster.client.create(Namespace(metadata=ObjectMeta(name=name)))
        for obj in console_rbac(PANELS, "default"):
            await cluster.client.apply(obj)
        cluster.server.tokens.add("consoles", service_account("default", NAME))
        rest = Rest(InProcessTransport(cluster.server, "consoles"))
        assert await proxy_status(rest, "shifu-system") == 403
        for obj in figures_rbac(["shifu-system"], "default"):
            await cluster.client.apply(obj)
        assert await proxy_status(rest, "shifu-system") != 403
        assert await proxy_status(rest, "users") == 403
    finally:
        await cluster.close()


async def proxy_status(rest: Rest, namespace: str) -> int:
    """What a server answers somebody who asks for the metrics of a pod."""
    path = f"/api/v1/namespaces/{namespace}/pods/shifu-0:8080/proxy/metrics"
    try:
        return (await rest.send(ApiRequest("GET", path))).status
    except ApiError as error:
        return error.status


async def test_a_console_under_its_role_shows_everything_and_is_refused_nothing() -> None:
    cluster = InProcessCluster(rbac=True)
    try:
        await cluster.install(EdgeDevice, EdgeNode, TelemetryService)
        for obj in console_rbac(PANELS, "default"):
            await cluster.client.apply(obj)
        user = service_account("default", NAME)
        cluster.server.tokens.add("consoles", user)
        transport = InProcessTransport(cluster.server, "consoles")
        await cluster.create(EdgeDevice(metadata=named("camera"), spec=EdgeDeviceSpec()))
        async with running_console(cluster, transport=transport) as console:
            page = "object/shifu.edgenesis.io/v1alpha1/edgedevices/default/camera"
            assert "object" in await console.rows(page)
            await cluster.advance(15)
            states = console.console.sources.states()
            assert {name: each.reason for name, each in states.items() if not each.live} == {}
        refused = [each for each in cluster.server.audit.by(user.name) if each.code == 403]
        assert refused == []
    finally:
        await cluster.close()
