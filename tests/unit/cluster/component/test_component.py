"""Components of the control plane are somebody to the server, and may do what they declare."""

from __future__ import annotations

import pytest

from quintant.api.core import ConfigMap, Secret
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.component.component import Component, run_component
from quintant.core.clock import LoopClock, Random
from quintant.core.errors import Forbidden
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import Context


async def test_component_works_under_its_own_name_with_its_own_role() -> None:
    manager = Manager("kube-tester")
    manager.controls(ConfigMap).reconcile(_nothing)
    server = ApiServer(clock=LoopClock(), rbac=True)
    async with run_component(server, Component(manager), LoopClock(), Random()) as engine:
        assert not await engine.client.list(ConfigMap)
        told = 'User "system:kube-tester" cannot get resource "secrets"'
        with pytest.raises(Forbidden, match=told):
            await engine.client.get(Secret, "a", "default", live=True)
    assert {record.verb for record in server.audit.by("system:kube-tester")} >= {"watch"}


async def test_token_of_a_component_ends_with_it() -> None:
    manager = Manager("kube-tester")
    manager.controls(ConfigMap).reconcile(_nothing)
    server = ApiServer(clock=LoopClock(), rbac=True)
    async with run_component(server, Component(manager), LoopClock(), Random()) as engine:
        transport = engine.environment.transport
    token = getattr(transport, "token", "")
    assert token
    assert server.tokens.find(token) is None


async def _nothing(obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
    """A reconciler that finds everything in order."""
