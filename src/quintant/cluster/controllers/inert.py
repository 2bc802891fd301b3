"""Objects that nothing acts on: an event says so of each, which a real cluster has no need of.

Told is of new objects only, once: those that a kept cluster begins with were told of before. What
the API server made for itself, and keeps up to date, is nobody's to be told of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from quintant.cluster.common.inert_kinds import INERT_KINDS, InertKind
from quintant.cluster.controllers.served_kinds import metadata_of
from quintant.core.clock import find_timestamp
from quintant.core.dynamic import dynamic
from quintant.core.object import Object, Request
from quintant.core.resource import resource_of
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import KeyContext

NAME = "inert-kinds-controller"
REASON = "NothingActsOnIt"
NEW_SECONDS = 60.0
"""For how long an object is new: a start, or a cache that is behind, takes less."""
OWN = "apf.kubernetes.io/autoupdate-spec"
"""The annotation of what the API server keeps up to date."""
TYPES = {
    each.kind: metadata_of(resource_of(dynamic(each.api, each.kind, namespaced=each.namespaced)))
    for each in INERT_KINDS
}
_KINDS = {each.kind: each for each in INERT_KINDS}


def declare(manager: Manager) -> None:
    """Add the controller that tells what is inert."""
    controller = manager.keyed(NAME)
    for kind, type_ in TYPES.items():
        controller = controller.watches(type_, to=_keys(kind))
    controller.reconcile(reconcile)


async def reconcile(request: Request, ctx: KeyContext) -> None:
    """Tell of an object that is new that nothing will become of it."""
    name, _, plain = request.name.partition("/")
    kind = _KINDS[name]
    found = await ctx.client.find(TYPES[name], plain, request.namespace)
    if found is None or OWN in found.metadata.annotations or plain == kind.own:
        return
    made = find_timestamp(found.metadata.creation_timestamp or "")
    if made is not None and (ctx.clock.now() - made).total_seconds() < NEW_SECONDS:
        ctx.event(found, REASON, note(kind))


def note(kind: InertKind) -> str:
    """What is said of an object of the kind."""
    return f"nothing in this embedded cluster acts on it; in a real one: {kind.elsewhere}"


def _keys(kind: str) -> Callable[[Object], Iterable[Request]]:
    return lambda obj: (Request(f"{kind}/{obj.metadata.name}", obj.metadata.namespace),)
