"""What the checks of members mean: who is suspect, who is down, who has split off. Pure.

One failed check makes a suspect, which nobody is sent to. A member that fails for `down-after` is
down. A live member that is not in the contact's view, sweep after sweep, has split off.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from quintant.operators.klight.observe.view import PeerView
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Drop
from quintant.operators.klight.plan.join_result import PeerHealth
from quintant.wire.peeradmin import MemberState, StatusResponse

SPLIT_SWEEPS = 2
"""A member must be missing from the contact's view so often in a row: views take time to spread."""


def seen_by(status: StatusResponse) -> set[str]:
    """The members that a peer takes for alive, itself perhaps among them."""
    return {member.address for member in status.members if member.state != MemberState.DOWN}


def founding_order(status: StatusResponse | None) -> tuple[int, int]:
    """Orders founders: those who know most others, then those who have most, first.

    Whoever knows others or has contents must not be sent to somebody who has not.
    """
    if status is None:
        return 0, 0
    return -len(seen_by(status) - {status.address}), -status.clients


def patience(down_after: float, interval: float) -> int:
    """After how many failed checks in a row a member is down."""
    return max(1, math.ceil(down_after / interval))


def counted(
    misses: Mapping[str, int], found: Iterable[tuple[PeerView, PeerHealth]]
) -> dict[str, int]:
    """The failed checks in a row of each peer, with what was just found."""
    left = dict(misses)
    for peer, health in found:
        failed = left.pop(peer.uid, 0) + 1
        if health is not PeerHealth.SERVING:
            left[peer.uid] = failed
    return left


def down(
    misses: Mapping[str, int], found: Iterable[tuple[PeerView, PeerHealth]], options: Options
) -> list[Drop]:
    """Who failed too often in a row, and is no member any more."""
    most = patience(options.down_after, options.probe_interval)
    return [
        Drop(
            peer,
            "PeerDown",
            f"{peer.address} is {health.value} for {options.down_after:g} s; dropped",
        )
        for peer, health in found
        if misses.get(peer.uid, 0) >= most
    ]


def unseen(
    missing: Mapping[str, int], alive: Iterable[PeerView], contact: PeerView, status: StatusResponse
) -> dict[str, int]:
    """Sweeps in a row in which live members were not in the contact's view, by uid."""
    seen = {contact.address} | seen_by(status)
    lost = [peer for peer in alive if peer.address not in seen]
    return {peer.uid: missing.get(peer.uid, 0) + 1 for peer in lost}


def split_off(missing: Mapping[str, int]) -> set[str]:
    """Those who are surely not in the contact's network, by uid."""
    return {uid for uid, sweeps in missing.items() if sweeps >= SPLIT_SWEEPS}
