"""Where the clusters of tests begin: made once, and copied for each of them.

A world is a cluster's contents at a moment. It is never written to, and a cluster that begins with
it is a new server over a copy of references: nothing that a test does can reach another test. That
takes a millisecond, where a server that makes its first objects itself takes ten.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cache

from quintant.cluster.apiserver.kinds.kind import DefinedSchema
from quintant.cluster.apiserver.meta.user import StaticTokens
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Snapshot
from quintant.core.clock import LoopClock, Random
from quintant.core.object import Object

# The ids of what every cluster has are drawn apart from those of a test's own objects.
_SEED = "world"


@dataclass(frozen=True, slots=True)
class World:
    """The contents of a cluster: its objects, the custom kinds installed in it, static tokens."""

    objects: Snapshot = field(repr=False)
    kinds: frozenset[type[Object]] = frozenset()
    tokens: StaticTokens = field(default_factory=StaticTokens, repr=False)
    schemas: tuple[DefinedSchema, ...] = field(default=(), repr=False)
    """Those of its custom kinds: what was compiled for one cluster, no other compiles again."""

    def store(self) -> RevisionStore:
        """A store of one's own with these objects."""
        return RevisionStore.of(self.objects)

    def random(self, seed: int) -> Random:
        """Randomness that gives no id a second time which it gave on the way here."""
        return Random(f"{seed} after {self.objects.revision}")


@cache
def first_world() -> World:
    """What every cluster has from its first moment; needs a running loop."""
    server = ApiServer(clock=_Dawn(), random=Random(_SEED))
    return World(server.snapshot())


class _Dawn:
    """Time does not pass before a test begins, whichever test it is."""

    def now(self) -> datetime:
        return LoopClock().epoch
