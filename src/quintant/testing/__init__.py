"""The kit for testing controllers: virtual time, an in-process cluster, faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quintant.lazy import lazy

if TYPE_CHECKING:
    from quintant.runtime.client.faults import FaultTransport
    from quintant.runtime.client.match import anything, kind, path, verb, watch, writes
    from quintant.testing.cluster import InProcessCluster, named
    from quintant.testing.loop import VirtualLoop, advance, run, settle
    from quintant.testing.once import Note, Outcome, Write, reconcile_once
    from quintant.testing.privileges import Account, grant
    from quintant.testing.world import World

_HOMES = {
    "Account": "quintant.testing.privileges",
    "FaultTransport": "quintant.runtime.client.faults",
    "InProcessCluster": "quintant.testing.cluster",
    "Note": "quintant.testing.once",
    "Outcome": "quintant.testing.once",
    "VirtualLoop": "quintant.testing.loop",
    "World": "quintant.testing.world",
    "Write": "quintant.testing.once",
    "advance": "quintant.testing.loop",
    "anything": "quintant.runtime.client.match",
    "grant": "quintant.testing.privileges",
    "kind": "quintant.runtime.client.match",
    "named": "quintant.testing.cluster",
    "path": "quintant.runtime.client.match",
    "reconcile_once": "quintant.testing.once",
    "run": "quintant.testing.loop",
    "settle": "quintant.testing.loop",
    "verb": "quintant.runtime.client.match",
    "watch": "quintant.runtime.client.match",
    "writes": "quintant.runtime.client.match",
}

__all__ = [
    "Account",
    "FaultTransport",
    "InProcessCluster",
    "Note",
    "Outcome",
    "VirtualLoop",
    "World",
    "Write",
    "advance",
    "anything",
    "grant",
    "kind",
    "named",
    "path",
    "reconcile_once",
    "run",
    "settle",
    "verb",
    "watch",
    "writes",
]

__getattr__ = lazy(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
