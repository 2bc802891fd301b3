"""A status people can read: conditions, events, polling, and giving up.

Each Probe dials a port of its own every half minute. The condition "Reachable" says how it stands
and since when; an event tells of every change. What cannot work until somebody edits the Probe
is said once (Terminal) and not tried again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import Meta

from quintant import Context, Custom, Manager, Model, Result, Terminal, resource, when
from quintant.api.meta import Condition, condition_of, set_condition
from quintant.core.schema.markers import list_map

POLL_SECONDS = 30.0
PATIENCE_SECONDS = 5.0


class ProbeSpec(Model):
    host: str
    port: Annotated[int, Meta(ge=1, le=65535)]


class ProbeStatus(Model):
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(group="demo.dev", version="v1", status=True)
class Probe(Custom[ProbeSpec, ProbeStatus]):
    """Says whether a port answers."""


async def dial(host: str, port: int) -> str:
    """Why a port does not answer; empty when it does."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            _, writer = await asyncio.open_connection(host, port)
    except OSError as error:  # TimeoutError is one, too
        return str(error) or "no answer in time"
    writer.close()
    return ""


def probes(dial: Callable[[str, int], Awaitable[str]]) -> Manager:
    async def reconcile(probe: Probe, ctx: Context[Probe]) -> Result:
        host, port = probe.spec.host, probe.spec.port
        if host == "localhost" or host.startswith("127."):
            await tell(probe, ctx, False, "Refused", f"{host} is the controller itself")
            raise Terminal(f"{host} cannot be probed from here", reason="Refused", event=False)
        wrong = await dial(host, port)
        await tell(probe, ctx, not wrong, "NoAnswer" if wrong else "Answered", wrong or "it does")
        return Result(after=POLL_SECONDS)

    manager = Manager("probe")
    manager.controls(Probe, when=when.generation).reconcile(reconcile)
    return manager


async def tell(probe: Probe, ctx: Context[Probe], ok: bool, reason: str, note: str) -> None:
    before = probe.status.conditions if probe.status else ()
    after = set_condition(
        before, "Reachable", status=ok, reason=reason, message=note,
        generation=probe.metadata.generation, now=ctx.clock.now(),
    )  # fmt: skip
    last = condition_of(before, "Reachable")
    if last is None or last.reason != reason:
        ctx.event(reason, note, type="Normal" if ok else "Warning", action="Dial")
    await ctx.set_status(ProbeStatus(conditions=after))


manager = probes(dial)

if __name__ == "__main__":
    manager.run()
