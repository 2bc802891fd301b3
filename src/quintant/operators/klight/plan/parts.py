"""When and how a network that has come apart is mended. Pure.

Peers maintain their networks themselves; this is for what they cannot know: that another part of
their network lives. The parts are known by asking every member whom it sees. Members of the smaller
parts are sent to the largest one, one after another, and merge what they have into its chain.

Peers of another make do not tell whom they see: all of them are given one list and one chain, by a
peer of ours if there is one, else by a contact that lives for the repair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from quintant.operators.klight.api.lightnetwork import REPAIR, LightNetwork, Repair
from quintant.operators.klight.plan.sweep import split_off


def wanted(
    lightnetwork: LightNetwork | None,
    default: Repair,
    missing: Mapping[str, int],
    forked: bool = False,
) -> bool:
    """Whether a repair is due: asked for and not done yet, or automatic and needed."""
    policy = (lightnetwork.spec.repair if lightnetwork is not None else None) or default
    if policy == "off":
        return False
    if policy == "auto" and (split_off(missing) or forked):
        return True
    return requested(lightnetwork) != handled(lightnetwork)


def requested(lightnetwork: LightNetwork | None) -> str:
    """The last request for a repair; empty if there was none."""
    return lightnetwork.metadata.annotations.get(REPAIR, "") if lightnetwork is not None else ""


def handled(lightnetwork: LightNetwork | None) -> str:
    """The last request that was acted upon."""
    status = lightnetwork.status if lightnetwork is not None else None
    return (status.repair_handled if status is not None else None) or ""


def parts(views: Mapping[str, set[str]]) -> list[list[str]]:
    """Addresses that see each other, directly or through others; the largest part first."""
    left, known = list(views), []
    while left:
        part, edge = [], [left.pop(0)]
        while edge:
            part.append(here := edge.pop())
            near = [there for there in left if there in views[here] and here in views[there]]
            left = [there for there in left if there not in near]
            edge += near
        known.append(part)
    return sorted(known, key=len, reverse=True)


def strays(views: Mapping[str, set[str]]) -> tuple[list[str], list[str]]:
    """Who is to be brought back, and the part of the network to which."""
    apart = parts(views)
    return [each for part in apart[1:] for each in part], apart[0] if apart else []


def union(histories: Sequence[Sequence[bytes]]) -> list[bytes]:
    """Everything that any peer has, oldest first: the longest history, then what it lacks.

    Histories are newest first. What was written twice stays twice.
    """
    merged = list(reversed(max(histories, key=len, default=())))
    for history in histories:
        spare = Counter(merged)
        for payload in reversed(history):
            if spare[payload]:
                spare[payload] -= 1
            else:
                merged.append(payload)
    return merged


def lacking(mine: Sequence[bytes], histories: Sequence[Sequence[bytes]]) -> list[bytes]:
    """What others have and one has not, oldest first."""
    spare = Counter(mine)
    lacked = []
    for payload in union([mine, *histories]):
        if spare[payload]:
            spare[payload] -= 1
        else:
            lacked.append(payload)
    return lacked


def summary(strayed: int, failed: int, silent: int) -> tuple[str, str]:
    """How a repair ended: in a word for the metrics, and for people."""
    result = "failed" if failed else "mended" if strayed else "nothing"
    message = f"{strayed - failed} of {strayed} peers were brought back"
    message = message if strayed else "nothing to do"
    if silent:
        message += f"; {silent} that did not answer were left alone"
    return result, message
