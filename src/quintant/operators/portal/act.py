"""Carries out what was planned: the key and the Deployment of the tunnels, and its event.

Ours is what its PortalExpose controls, by uid. One without any controller that carries our labels
is adopted, as those made by the contract's first implementation are. One of another controller is
never touched. Events are recorded only once what they say is written; where everything is as it
should be, nothing is written.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable

from quintant.api.apps import Deployment
from quintant.core.errors import AlreadyExists, ApiError, Conflict, NotFound, Terminal
from quintant.core.owner import owner_of
from quintant.core.text import one_line
from quintant.operators.portal.api import GROUP, KEY_TYPE, PortalExpose, TunnelKey
from quintant.operators.portal.builders import SEED_BYTES, adoptable, key_name, key_secret
from quintant.operators.portal.observed import Observed, OperationResult, Outcome
from quintant.operators.portal.plan.events import outcome_event
from quintant.runtime.apply import (
    NAME_TAKEN,
    ChildChanges,
    Policy,
    RevisionMark,
    control,
    drifted,
    strays,
)
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.context import Context

MARK = RevisionMark(key=f"{GROUP}/spec-hash")
POLICY = Policy(
    mark=MARK,
    drifted=drifted,
    strays=strays,
    adopts=lambda have, want: adoptable(have, want.metadata.labels),
    delete="leave",
)


Seed = Callable[[], bytes]
"""Makes what a key is made from."""


def fresh_seed() -> bytes:
    """What a key is made from, as the system gives it."""
    return secrets.token_bytes(SEED_BYTES)


async def act(
    ctx: Context[PortalExpose], observed: Observed, wanted: Iterable[Deployment], seed: Seed
) -> Outcome:
    """Make the key, bring the Deployment in line, and record the event of it.

    Conflict if another process is doing so, too.
    """
    outcome = Outcome()
    for want in wanted:
        outcome = await _make_key(ctx.client, observed, seed) or await _write(
            ctx.client, observed, want
        )
        if (event := outcome_event(observed, outcome)) is not None:
            ctx.tell(event)
    return outcome


async def _make_key(client: Client, observed: Observed, seed: Seed) -> Outcome | None:
    """The key, once; None if it is there."""
    expose = observed.expose
    if not observed.keyed:
        return None
    if observed.key is not None:
        return _taken(observed.key, expose)
    name, namespace = key_name(expose.metadata.name), expose.metadata.namespace
    try:
        await client.create(key_secret(expose, seed()))
    except AlreadyExists:
        key = await client.find(TunnelKey, name, namespace, live=True)
        return _taken(key, expose) if key is not None else None
    except ApiError as error:
        return _refused(observed, error)
    return None


def _taken(key: TunnelKey, expose: PortalExpose) -> Outcome | None:
    """What keeps the key's name from us; None if the key is ours, or nobody's."""
    held = owner_of(key)
    ours = held is None or held.uid == expose.metadata.uid
    if ours and key.type == KEY_TYPE:
        return None
    if held is not None and held.uid != expose.metadata.uid and held.is_named_as(expose):
        return Outcome(OperationResult.WAITING, "An earlier key of this name is still going away")
    return Outcome(OperationResult.CONFLICT, f"Secret '{key.metadata.name}' is somebody else's")


def _refused(observed: Observed, error: ApiError) -> Outcome:
    message, creating = one_line(error.message), observed.deployment is None
    return Outcome(OperationResult.REFUSED, message, creating=creating, error=error)


async def _write(client: Client, observed: Observed, want: Deployment) -> Outcome:
    have = () if observed.existing is None else (observed.existing,)
    try:
        changes = await control(client, (want,), have, by=observed.expose, policy=POLICY)
    except Terminal as error:
        if error.reason == NAME_TAKEN:
            return Outcome(OperationResult.CONFLICT, str(error))
        return Outcome(OperationResult.REFUSED, str(error), creating=False, error=error)
    except (Conflict, NotFound):
        raise
    except ApiError as error:
        return _refused(observed, error)
    return _outcome(changes)


def _outcome(changes: ChildChanges[Deployment, Deployment]) -> Outcome:
    if changes.create:
        return Outcome(OperationResult.CREATED)
    if changes.waiting:
        message = "An earlier Deployment of this name is still going away"
        return Outcome(OperationResult.WAITING, message)
    for update in changes.update:
        same = MARK.of(update.have) == MARK.of(update.want)
        return Outcome(OperationResult.CORRECTED if same else OperationResult.UPDATED)
    return Outcome(OperationResult.UNCHANGED)
