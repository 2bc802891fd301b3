"""The example of shards: two replicas share the orders, and one that is left has them all."""

from __future__ import annotations

from examples_support import load_example
from quintant.api.core import ConfigMap
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, named

example = load_example("09_shards")
NAMES = [f"order-{number}" for number in range(40)]


def worked(engine: Engine) -> float:
    """How many reconciles an instance has done."""
    labels = {"controller": "order", "result": "success"}
    return engine.metrics.registry.value("controller_runtime_reconcile_total", labels) or 0


async def test_two_replicas_share_the_orders_and_one_that_is_left_has_them_all(
    cluster: InProcessCluster,
) -> None:
    first = await cluster.run(example.manager)
    second = await cluster.run(example.manager)
    await cluster.advance(25)
    for name in NAMES:
        spec = example.OrderSpec(amounts=[1, 2])
        await cluster.create(example.Order(metadata=named(name), spec=spec))
    await cluster.advance(5)
    for name in NAMES:
        assert (await cluster.get(ConfigMap, name)).data == {"total": "3"}
    tokens = {(await cluster.get(example.Order, name)).status.token for name in NAMES}
    assert len(tokens) >= 2
    assert min(worked(first), worked(second)) >= 10

    await cluster.stop(second)
    before = worked(first)
    for name in NAMES:
        order = await cluster.get(example.Order, name)
        await cluster.client.apply(
            example.Order(metadata=named(name), spec=example.OrderSpec(amounts=[5]))
        )
        assert order.status.total == 3
    await cluster.advance(5)
    for name in NAMES:
        assert (await cluster.get(example.Order, name)).status.total == 5
    assert worked(first) - before >= len(NAMES)
