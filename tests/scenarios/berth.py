"""A program whose objects stand for something outside, and are held until that is gone."""

from __future__ import annotations

from typing import Annotated, Any

from quintant import Context, Custom, Manager, Model, ObjectMeta, resource
from quintant.api.meta import Condition
from quintant.core.markers import list_map
from quintant.runtime.controller.finalizer import Cleanup
from quintant.runtime.controller.predicates import Predicate

FINALIZER = "demo.dev/mooring"


class BerthSpec(Model):
    ship: str = ""


class BerthStatus(Model):
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(group="demo.dev", version="v1", status=True)
class Berth(Custom[BerthSpec, BerthStatus]):
    """A place in a harbour."""


async def moor(berth: Berth, ctx: Context[Berth]) -> None: ...


async def unmoor(berth: Berth, ctx: Context[Berth]) -> None: ...


def berth_manager(
    cleanup: Cleanup[Berth] = unmoor,
    *,
    reconcile: Any = moor,
    when: Predicate[Berth] | None = None,
) -> Manager:
    """A fresh manager of berths."""
    manager = Manager("harbour")
    manager.controls(Berth, when=when).finalize(FINALIZER, cleanup).reconcile(reconcile)
    return manager


def berth(name: str, namespace: str = "default") -> Berth:
    return Berth(metadata=ObjectMeta(name=name, namespace=namespace), spec=BerthSpec(ship="Ada"))


manager = berth_manager()
