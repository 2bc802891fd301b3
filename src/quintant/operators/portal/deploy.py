"""The Deployment of the tunnels, written: created, changed, restored, or left alone.

Ours is what its PortalExpose controls, by uid. One without any controller that carries our labels
is adopted, as those made by the contract's first implementation are. Everybody else's is never
touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from quintant.api.apps import Deployment
from quintant.core.errors import ApiError, Conflict, Invalid, NotFound, Status, Terminal
from quintant.core.object import Object, ObjectMeta, replace
from quintant.core.owner import controller_of, owned
from quintant.operators.portal.api import GROUP, PortalExpose
from quintant.operators.portal.builders import Tunnels, deployment, labels
from quintant.operators.portal.deed import Deed, Outcome
from quintant.operators.portal.reports import tidy
from quintant.operators.portal.world import World
from quintant.runtime.apply import (
    NAME_TAKEN,
    Changes,
    Mark,
    Policy,
    control,
    controlled,
    marked,
)
from quintant.runtime.apply.control import ChildClient as Writer
from quintant.runtime.apply.drift import drifted, strays

MARK = Mark(key=f"{GROUP}/spec-hash")
POLICY = Policy(mark=MARK, drifted=drifted, delete="leave")


class Client(Writer, Protocol):
    """What is asked of a client."""

    async def amend(
        self, kind: type[Object], meta: ObjectMeta, operations: Sequence[Mapping[str, Any]]
    ) -> None: ...


def held(found: Deployment | None, expose: PortalExpose) -> Deployment | None:
    """The Deployment if it is ours, or ours to adopt."""
    if found is None or controlled(found, expose) or adoptable(found, expose):
        return found
    return None


def adoptable(found: Deployment, expose: PortalExpose) -> bool:
    """Whether nobody controls it, and it says itself whose it is."""
    ours = labels(expose.metadata.name).items()
    return controller_of(found) is None and ours <= dict(found.metadata.labels).items()


async def act(world: World, found: Deployment | None, client: Client, tunnels: Tunnels) -> Deed:
    """Bring the Deployment in line; Conflict if somebody else is doing so, too."""
    if world.service is None or world.tunnel_class is None:
        return Deed()
    want = deployment(world.expose, world.tunnel_class, world.service, tunnels)
    try:
        return await _act(world, found, client, want)
    except Terminal as error:
        if error.reason == NAME_TAKEN:
            return Deed(Outcome.CONFLICT, f"{error}")
        return Deed(Outcome.REFUSED, str(error), first=False, error=error)
    except (Conflict, NotFound):
        raise
    except ApiError as error:
        first = world.deployment is None
        return Deed(Outcome.REFUSED, tidy(error.message), first=first, error=error)


async def _act(world: World, found: Deployment | None, client: Client, want: Deployment) -> Deed:
    have = () if found is None else (_claimed(found, world.expose),)
    changes = await control(client, (want,), have, by=world.expose, policy=POLICY)
    outcome = _outcome(changes, found, want)
    if outcome in (Outcome.UPDATED, Outcome.CORRECTED, Outcome.LEFT):
        # Only now: a pod without any container would be refused.
        written = await client.find(Deployment, want.metadata.name, want.metadata.namespace)
        if written is not None and await _purge(client, written, want):
            outcome = Outcome.CORRECTED if outcome is Outcome.LEFT else outcome
    return Deed(outcome, _waiting(changes))


async def _purge(client: Client, found: Deployment, want: Deployment) -> bool:
    """Remove what we did not set; whether there was anything."""
    operations = strays(found, want)
    if not operations:
        return False
    try:
        await client.amend(Deployment, found.metadata, operations)
    except Invalid as error:
        # A failed test operation is answered with 422: our cache is behind.
        raise Conflict(Status(code=409, reason="Conflict", message=error.message)) from error
    return True


def _claimed(found: Deployment, expose: PortalExpose) -> Deployment:
    """As it is, or as if it were ours already and of no known revision: so it will be written."""
    if not adoptable(found, expose):
        return found
    noted = {key: value for key, value in found.metadata.annotations.items() if key != MARK.key}
    unmarked = replace(found, metadata=replace(found.metadata, annotations=noted))
    return owned(unmarked, by=expose)


def _outcome(
    changes: Changes[Deployment, Deployment], found: Deployment | None, want: Deployment
) -> Outcome:
    if changes.create:
        return Outcome.CREATED
    if changes.waiting:
        return Outcome.WAITING
    if changes.update:
        before = MARK.of(found or changes.update[0].have)
        return Outcome.CORRECTED if before == MARK.of(marked(want, MARK)) else Outcome.UPDATED
    return Outcome.LEFT


def _waiting(changes: Changes[Deployment, Deployment]) -> str:
    return "An earlier Deployment of this name is still going away" if changes.waiting else ""
