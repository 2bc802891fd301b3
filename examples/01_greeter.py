"""A first controller: every Greeter keeps a ConfigMap with its greeting.

quintant crd examples/01_greeter.py | kubectl apply -f -
quintant run examples/01_greeter.py
"""

from typing import Annotated

from msgspec import Meta

from quintant import Context, Custom, Manager, Model, ObjectMeta, owned, resource
from quintant.api.core import ConfigMap


class GreeterSpec(Model):
    message: Annotated[str, Meta(min_length=1, max_length=256)]
    """What the ConfigMap says."""


class GreeterStatus(Model):
    greeted: bool | None = None
    """Whether it does."""


@resource(group="demo.dev", version="v1", short=["gr"], status=True)
class Greeter(Custom[GreeterSpec, GreeterStatus]):
    """Keeps a ConfigMap with a greeting."""


async def reconcile(greeter: Greeter, ctx: Context[Greeter]) -> None:
    child = ConfigMap(metadata=ObjectMeta.like(greeter), data={"text": greeter.spec.message})
    await ctx.apply(owned(child, by=greeter))
    await ctx.set_status(GreeterStatus(greeted=True))


manager = Manager("greeter")
manager.controls(Greeter).owns(ConfigMap).reconcile(reconcile)

if __name__ == "__main__":
    manager.run()
