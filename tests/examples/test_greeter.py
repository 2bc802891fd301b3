"""The first example does what it says, on an in-process cluster and as a single reconcile."""

from __future__ import annotations

from typing import Any

from examples_support import load_example
from quintant.api.core import ConfigMap
from quintant.testing import InProcessCluster, named, reconcile_once

greeter = load_example("01_greeter")


def hello(message: str = "hi") -> Any:
    return greeter.Greeter(metadata=named("a"), spec=greeter.GreeterSpec(message=message))


async def test_greeter_keeps_a_config_map_with_its_greeting(cluster: InProcessCluster) -> None:
    await cluster.run(greeter.manager)
    await cluster.create(hello())

    child = await cluster.eventually(ConfigMap, "a")
    done = await cluster.eventually(greeter.Greeter, "a", until=lambda g: g.status is not None)

    assert child.data == {"text": "hi"}
    assert done.status.greeted


async def test_greeter_repairs_a_changed_greeting(cluster: InProcessCluster) -> None:
    await cluster.run(greeter.manager)
    await cluster.create(hello())
    child = await cluster.eventually(ConfigMap, "a")

    await cluster.client.apply(ConfigMap(metadata=named("a"), data={"text": "something else"}))

    await cluster.eventually(ConfigMap, "a", until=lambda c: c.data == {"text": "hi"})
    assert child.data == {"text": "hi"}


def test_one_reconcile_applies_the_child_and_writes_the_status() -> None:
    outcome = reconcile_once(greeter.reconcile, hello())

    applied, status = outcome.writes
    assert (applied.verb, applied.resource, applied.name) == ("apply", "configmaps", "a")
    assert applied.body["data"] == {"text": "hi"}
    assert (status.sub, status.body["status"]) == ("status", {"greeted": True})
    assert outcome.result is None
