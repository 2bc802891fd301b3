"""What a scenario looks at from outside, as who runs the process would: metrics and probes."""

from __future__ import annotations

from quintant.core.object import Object
from quintant.core.resource import resource_of
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.health import ProbeKind


def sample(engine: Engine, name: str, **labels: str) -> float:
    """The value of a series; an error if there is none."""
    value = engine.metrics.registry.value(name, labels)
    assert value is not None, f"no series {name}{labels}"
    return value


def restarts(engine: Engine, kind: type[Object], reason: str) -> float:
    """How often watches of a kind were opened again for a reason."""
    return sample(
        engine,
        "quintant_watch_restarts_total",
        kind=resource_of(kind).full_name,
        reason=reason,
    )


async def unready(engine: Engine) -> dict[str, str]:
    """The checks of /readyz that fail, and why."""
    report = await engine.health.run_checks(ProbeKind.READINESS)
    return {verdict.name: verdict.problem for verdict in report.results if verdict.problem}
