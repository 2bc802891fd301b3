"""The role of a console: what it shows, to be read."""

from __future__ import annotations

from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import service_account
from quintant.console.role import NAME, console_rbac, console_rules
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
    }
    assert "*" not in {each for rule in console_rules(PANELS) for each in rule.api_groups}


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
