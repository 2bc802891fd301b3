"""More than one process can do: every replica works, each on objects of its own.

Every Order gets a ConfigMap with its total. `quintant run examples/09_shards.py --processes 2` has
two processes, each with half of the orders; kill one, and the other takes the rest, until its
parent has started another. What sends orders to a system outside shows it the epoch, so that the
system can refuse a replica whose time is over.
"""

from quintant import Context, Custom, KeyedState, Manager, Model, ObjectMeta, owned, resource
from quintant.api.core import ConfigMap


class OrderSpec(Model):
    amounts: list[int]


class OrderStatus(Model):
    total: int | None = None
    token: int | None = None


@resource(group="example.dev", version="v1", status=True)
class Order(Custom[OrderSpec, OrderStatus]):
    """Amounts to add up."""


class Seen:
    """What this replica remembers of its orders; forgotten when another one has them."""

    def __init__(self) -> None:
        self.times = 0


seen = KeyedState(Seen)


async def reconcile(order: Order, ctx: Context[Order]) -> None:
    seen[ctx.request].times += 1
    total = sum(order.spec.amounts)
    bill = ConfigMap(metadata=ObjectMeta.like(order), data={"total": str(total)})
    await ctx.apply(owned(bill, by=order))
    if order.status is None or order.status.total != total:
        # A system outside that keeps the largest token refuses all that are smaller.
        await ctx.set_status(OrderStatus(total=total, token=ctx.epoch))


manager = Manager("orders", shards=True)
manager.controls(Order).owns(ConfigMap).keeps(seen).reconcile(reconcile)

if __name__ == "__main__":
    manager.run()
