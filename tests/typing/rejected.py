"""What a type checker must refuse.

Checked by mypy, never run. Every mistake is marked with the code mypy gives it; a mistake that mypy
no longer sees is an unused `type: ignore`, and that fails the check.
"""

from __future__ import annotations

from quintant import (
    Client,
    Conclusion,
    Context,
    Custom,
    Manager,
    Model,
    ObjectMeta,
    Reconciler,
    Request,
    Result,
    owned,
    replace,
    resource,
)
from quintant.api.core import ConfigMap, Pod, ResourceRequirements


class GreeterSpec(Model):
    message: str


class GreeterStatus(Model):
    greeted: bool | None = None


@resource(group="demo.dev", version="v1", status=True)
class Greeter(Custom[GreeterSpec, GreeterStatus]):
    """Keeps a ConfigMap with a greeting."""


@resource(group="demo.dev", version="v1")
class Plain:  # type: ignore[type-var]
    """No Object, so no kind."""


def frozen(greeter: Greeter) -> None:
    greeter.spec.message = "changed"  # type: ignore[misc]
    greeter.metadata = ObjectMeta()  # type: ignore[misc]
    greeter.metadata.labels["a"] = "b"  # type: ignore[index]


def constructed() -> None:
    Greeter()  # type: ignore[call-arg]
    GreeterSpec("positional")  # type: ignore[call-arg]
    GreeterSpec(message=5)  # type: ignore[arg-type]
    GreeterSpec(message="a", unknown=True)  # type: ignore[call-arg]
    Greeter(spec=GreeterStatus())  # type: ignore[arg-type]
    ResourceRequirements(limits={"cpu": 1})  # type: ignore[dict-item]


def read(greeter: Greeter, pod: Pod) -> None:
    greeter.status.greeted  # type: ignore[union-attr]  # noqa: B018
    greeter.spec.greeting  # type: ignore[attr-defined]  # noqa: B018
    pod.status.podIP  # type: ignore[attr-defined]  # noqa: B018


def helped(greeter: Greeter, child: ConfigMap) -> None:
    owned(child, greeter)  # type: ignore[call-arg]
    owned(child.metadata, by=greeter)  # type: ignore[type-var]
    replace("text", message="a")  # type: ignore[type-var]


async def asked(client: Client, greeter: Greeter) -> None:
    await client.get(str, "a")  # type: ignore[type-var]
    await client.create(greeter.spec)  # type: ignore[type-var]
    wrong: ConfigMap = await client.get(Greeter, "a")  # type: ignore[arg-type]
    await client.delete(wrong.metadata)  # type: ignore[arg-type]


async def reconcile_pod(pod: Pod, ctx: Context[Pod]) -> None: ...


async def reconcile_key(request: Request) -> None: ...


async def reconcile_text(greeter: Greeter, ctx: Context[Greeter]) -> str:
    return "done"


def reconcile_blocking(greeter: Greeter, ctx: Context[Greeter]) -> Result | None: ...


async def reconcile(greeter: Greeter, ctx: Context[Greeter]) -> None:
    await ctx.set_status(GreeterSpec(message="not a status"))  # type: ignore[arg-type]
    await ctx.conclude(Conclusion(status=GreeterSpec(message="nor here")))  # type: ignore[arg-type]


first: Reconciler[Greeter] = reconcile_pod  # type: ignore[assignment]
second: Reconciler[Greeter] = reconcile_key  # type: ignore[assignment]
third: Reconciler[Greeter] = reconcile_text  # type: ignore[assignment]
fourth: Reconciler[Greeter] = reconcile_blocking  # type: ignore[assignment]


def wiring(manager: Manager) -> None:
    manager.controls(Greeter).reconcile(reconcile_pod)  # type: ignore[arg-type]
    manager.controls(Greeter).index("x", lambda g: [g.spec.nothing])  # type: ignore[attr-defined]
    manager.controls(GreeterSpec)  # type: ignore[type-var]
