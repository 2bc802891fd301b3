"""Webhooks of managers in tests: asked while the manager runs, and not before or after."""

from __future__ import annotations

import asyncio

import pytest

from quintant import Custom, Manager, Model, replace, resource
from quintant.core.errors import ApiError, Forbidden
from quintant.runtime.webhook import Admission, Denied, Verdict, WebhookSettings
from quintant.testing import InProcessCluster, named


class GateSpec(Model):
    port: int = 0
    host: str = ""


@resource(group="gates.test", version="v1")
class Gate(Custom[GateSpec, None]):
    """A gate."""


def gate(name: str, port: int = 0) -> Gate:
    return Gate(metadata=named(name), spec=GateSpec(port=port))


async def judge(old: Gate | None, new: Gate | None, admission: Admission) -> Verdict:
    if new is not None and new.spec.port == 22:
        return Denied("port 22 is taken")
    if new is not None and new.spec.port == 23:
        await asyncio.sleep(60.0)
    return None


async def lower(new: Gate, admission: Admission) -> Gate:
    return replace(new, spec=replace(new.spec, host=new.spec.host.lower() or "nowhere"))


def gates(settings: WebhookSettings = WebhookSettings()) -> Manager:
    manager = Manager("gates")
    manager.webhooks.validating(Gate, judge, settings=settings)
    manager.webhooks.mutating(Gate, lower)
    return manager


async def test_managers_judge_and_amend_what_is_created(cluster: InProcessCluster) -> None:
    await cluster.install(Gate)
    await cluster.run(gates())
    assert (await cluster.create(gate("a"))).spec.host == "nowhere"
    with pytest.raises(Forbidden, match="denied the request: port 22 is taken"):
        await cluster.create(gate("b", 22))


async def test_a_manager_that_is_gone_is_refused_for_what_it_guards(
    cluster: InProcessCluster,
) -> None:
    await cluster.install(Gate)
    engine = await cluster.run(gates())
    await cluster.crash(engine)
    with pytest.raises(ApiError, match="connection refused"):
        await cluster.create(gate("a"))
    await cluster.run(gates())
    await cluster.create(gate("a"))


async def test_a_verdict_that_takes_too_long_costs_no_real_time(cluster: InProcessCluster) -> None:
    await cluster.install(Gate)
    await cluster.run(gates(WebhookSettings(timeout_seconds=5)))
    before = asyncio.get_running_loop().time()
    with pytest.raises(ApiError, match=r"no verdict within 4\.5 s"):
        await cluster.create(gate("a", 23))
    assert asyncio.get_running_loop().time() - before == pytest.approx(4.5)
