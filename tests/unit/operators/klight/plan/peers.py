"""Peers by name, for plans to decide about."""

from __future__ import annotations

from quintant.core.object import ObjectMeta, Request
from quintant.operators.klight.api import GENERATION, INCARNATION, PeerPod
from quintant.operators.klight.observe.view import PeerView


def peer(name: str, *, made: str = "", generation: int = 0, lapsed: bool = False) -> PeerView:
    """A peer that runs; `generation` is how often it was joined before, `lapsed` in this life."""
    annotations = {GENERATION: str(generation)} if generation else {}
    annotations |= {INCARNATION: name} if lapsed else {}
    meta = ObjectMeta(
        name=name, namespace="ns", uid=name, creation_timestamp=made, annotations=annotations
    )
    return PeerView(PeerPod(metadata=meta), Request("a", "ns"), f"{name}:9081", name, None, "")
