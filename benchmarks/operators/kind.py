"""The custom resource of the three operators, as Quintant declares it."""

from __future__ import annotations

from quintant import Custom, Model, resource


class GreeterSpec(Model):
    """What to say."""

    message: str


class GreeterStatus(Model):
    """Whether it was said."""

    greeted: bool | None = None


@resource(group="bench.quintant.dev", version="v1", status=True)
class Greeter(Custom[GreeterSpec, GreeterStatus]):
    """Keeps a ConfigMap with a greeting."""
