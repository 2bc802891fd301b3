"""The controller that most scenarios run: a custom resource, a child, a status."""

from __future__ import annotations

from typing import Any

from quintant import Context, Custom, Manager, Model, ObjectMeta, owned, resource
from quintant.api.core import ConfigMap
from quintant.testing import named


class GreeterSpec(Model):
    message: str


class GreeterStatus(Model):
    greeted: bool | None = None


@resource(group="demo.dev", version="v1", status=True)
class Greeter(Custom[GreeterSpec, GreeterStatus]):
    """Keeps a ConfigMap with a greeting."""


async def reconcile(obj: Greeter, ctx: Context[Greeter]) -> None:
    child = ConfigMap(metadata=ObjectMeta.like(obj), data={"text": obj.spec.message})
    await ctx.apply(owned(child, by=obj))
    await ctx.set_status(GreeterStatus(greeted=True))


def greeter_manager(**settings: Any) -> Manager:
    """A fresh manager of the greeter controller."""
    manager = Manager("greeter", **settings)
    manager.controls(Greeter).owns(ConfigMap).reconcile(reconcile)
    return manager


def greeter(name: str, message: str = "hi") -> Greeter:
    """A greeter in the namespace "default"."""
    return Greeter(metadata=named(name), spec=GreeterSpec(message=message))
