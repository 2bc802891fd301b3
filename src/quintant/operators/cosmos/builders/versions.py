"""Which version of a chain a node is to run. Pure.

The version of a height is the last that begins at or below it. A node that runs the version before
must not be killed at that height while it still writes the block: SDK nodes leave
`upgrade-info.json` there, without which the next version does not start. So the next version is
chosen only once the node is known to be done: it wrote that file, it is gone, its height is past
the version's, or it stood still for as long as the user said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quintant.operators.cosmos.api.chain import ChainVersion

STANDING_SECONDS = 60.0
"""So long a chain has no block before its own announcement means that it halted for it."""


@dataclass(frozen=True, slots=True)
class NodeProgress:
    """How far a node is, by everything that tells of it."""

    height: int = 0
    """The next block, as its status says: written there from RPC, or by the sidecar."""
    latest: int | None = None
    """The latest block by RPC; None if it does not answer."""
    upgrade_height: int = 0
    """What upgrade-info.json says; 0 if there is none."""
    planned_height: int = 0
    """What the chain announced; 0 if nothing, or if its user does not ask to know."""
    stalled_seconds: float = 0.0
    """How old the latest block is."""
    unreachable: bool = False
    """Asked several times, and silent."""
    image: str = ""
    """What its pod runs now; empty if there is no pod."""


def resolve_version(versions: Sequence[ChainVersion], height: int) -> ChainVersion | None:
    """The version of a height; None below the first."""
    found = None
    for version in versions:
        if version.height > height:
            break
        found = version
    return found


def version_height(
    versions: Sequence[ChainVersion], node: NodeProgress, grace: float | None
) -> int:
    """The height to choose a node's version by: its own, unless it is not done with the last."""
    wanted = resolve_version(versions, node.height)
    if wanted is None or not node.image or node.image == wanted.image:
        return node.height
    if runs_later(versions, wanted, node.image) or is_done(wanted, node, grace):
        return node.height
    return wanted.height - 1


def runs_later(versions: Sequence[ChainVersion], wanted: ChainVersion, image: str) -> bool:
    """Whether an image is no version before the one that is wanted: nothing has to be finished."""
    return not any(each.image == image and each.height < wanted.height for each in versions)


def is_done(wanted: ChainVersion, node: NodeProgress, grace: float | None) -> bool:
    """Whether a node has nothing more to do with the version before."""
    if node.unreachable or node.upgrade_height >= wanted.height or wanted.set_halt_height:
        return True
    if node.latest is None:
        return False
    if node.latest > wanted.height:
        return True  # it went on past that block: there was nothing to halt for
    at_height = node.latest >= wanted.height - 1
    return grace is not None and at_height and node.stalled_seconds >= grace


def is_halted(versions: Sequence[ChainVersion], node: NodeProgress) -> bool:
    """Whether a node stands at an upgrade that its own version cannot pass, whatever it says.

    Such a node answers, and claims to be in sync.
    """
    if uncovered_height(versions, node):
        return True
    if not node.upgrade_height or not node.image:
        return False
    wanted = resolve_version(versions, node.upgrade_height)
    past = node.latest is not None and node.latest > node.upgrade_height
    return wanted is not None and node.image != wanted.image and not past


def uncovered_height(versions: Sequence[ChainVersion], node: NodeProgress) -> int:
    """The height of the upgrade that a node stands at though no version begins there; 0 if none."""
    reached = max(node.latest or 0, node.height - 1)
    stands = node.latest is not None and node.stalled_seconds >= STANDING_SECONDS
    for height in (node.upgrade_height, node.planned_height if stands else 0):
        begins = range(height - 1, height + 1)
        if node.image and reached in begins and not any(it.height in begins for it in versions):
            return height
    return 0
