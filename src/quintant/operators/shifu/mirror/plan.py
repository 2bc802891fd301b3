"""Whether a Node gets an EdgeNode, or an EdgeNode goes. Pure."""

from __future__ import annotations

from enum import Enum

from quintant.operators.shifu.api.names import MIRRORED_LABEL
from quintant.operators.shifu.api.node import EdgeNode


class MirrorAction(Enum):
    """What is to be done about one name."""

    NOTHING = "nothing"
    CREATE = "create"
    DELETE = "delete"


def plan(edge: EdgeNode | None, *, wanted: bool) -> MirrorAction:
    """What follows from an EdgeNode, if there is one, and whether there should be one."""
    if edge is None:
        return MirrorAction.CREATE if wanted else MirrorAction.NOTHING
    ours = edge.metadata.labels.get(MIRRORED_LABEL) == "true"
    return MirrorAction.DELETE if ours and not wanted else MirrorAction.NOTHING
