"""What the checks of members mean: who is suspect, who is down, who has split off. Pure.

One failed check makes a suspect, which no pod is sent to. A member that fails for `down-after` is
down. A live member that is not in the contact's view, sweep after sweep, has split off.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from quintant.core.text import one_line
from quintant.operators.klight.observed.answers import PeerHealth
from quintant.operators.klight.observed.network import PeerView
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Drop
from quintant.wire.peeradmin import LastOrder, MemberState, StatusResponse

SPLIT_SWEEPS = 2
"""A member must be missing from the contact's view so often in a row: views take time to spread."""

RECENT_SECONDS = 60.0
"""A write that failed says nothing of a network in which another succeeded so shortly before."""
COMPARE_SWEEPS = 6
"""Every so many sweeps peers of another make are asked what was written last: they walk their whole
chain for it."""
COMPARED = 64
"""At most so many members are compared, and asked about their last writes."""

Checked = tuple[PeerView, PeerHealth]
"""A member, and what its check found."""


def seen_members(status: StatusResponse) -> set[str]:
    """The members that a peer takes for alive, itself perhaps among them."""
    return {member.address for member in status.members if member.state != MemberState.DOWN}


def founding_order(status: StatusResponse | None) -> tuple[int, int]:
    """Orders founders: those who know most others, then those who have most, first.

    One that knows others or has contents must not be sent to one that has not.
    """
    if status is None:
        return 0, 0
    return -len(seen_members(status) - {status.address}), -status.clients


def patience(down_after: float, interval: float) -> int:
    """After how many failed checks in a row a member is down."""
    return max(1, math.ceil(down_after / interval))


def counted(misses: Mapping[str, int], checks: Iterable[Checked]) -> dict[str, int]:
    """The failed checks in a row of each peer, with those of this sweep."""
    left = dict(misses)
    for peer, health in checks:
        failed = left.pop(peer.uid, 0) + 1
        if not health.serves:
            left[peer.uid] = failed
    return left


def down(misses: Mapping[str, int], checks: Iterable[Checked], options: Options) -> list[Drop]:
    """Who failed too often in a row, and is no member any more."""
    most = patience(options.down_after, options.probe_interval)
    return [
        Drop(
            peer,
            "PeerDown",
            f"{peer.address} is {health.value} for {options.down_after:g} s; dropped",
        )
        for peer, health in checks
        if misses.get(peer.uid, 0) >= most
    ]


def unseen(
    missing: Mapping[str, int], alive: Iterable[PeerView], contact: PeerView, status: StatusResponse
) -> dict[str, int]:
    """Sweeps in a row in which live members were not in the contact's view, by uid."""
    view = {contact.address} | seen_members(status)
    lost = [peer for peer in alive if peer.address not in view]
    return {peer.uid: missing.get(peer.uid, 0) + 1 for peer in lost}


def unwritable(orders: Mapping[str, LastOrder]) -> str:
    """Why no client can write: the newest failure, unless one wrote since, or shortly before."""
    failed = {address: order for address, order in orders.items() if order.failure}
    if not failed:
        return ""
    done = [_seconds(order) for order in orders.values() if not order.failure]
    address = max(failed, key=lambda each: _seconds(failed[each]))
    if done and max(done) >= _seconds(failed[address]) - RECENT_SECONDS:
        return ""
    return f"the last write at {address} failed: {one_line(failed[address].failure)}"


def _seconds(order: LastOrder) -> float:
    return order.at.seconds + order.at.nanos / 1e9 if order.at is not None else 0.0


def compares(sweep: int) -> bool:
    """Whether members are compared at a sweep: at the first two, then now and then."""
    return sweep < 2 or sweep % COMPARE_SWEEPS == 0


def forked(before: Mapping[str, bytes], now: Mapping[str, bytes], names: Mapping[str, str]) -> str:
    """Whose newest entry differs from most others', and stays so; empty if they all agree.

    While a client writes, members differ for a moment: only what is the same twice counts.
    """
    still = {uid: digest for uid, digest in now.items() if before.get(uid) == digest}
    if len(set(still.values())) < 2:
        return ""
    most = max(still.values(), key=list(still.values()).count)
    apart = ", ".join(names[uid] for uid in still if still[uid] != most)
    return f"members do not have the same chain, and cannot all write: {apart}"


def split_off(missing: Mapping[str, int]) -> set[str]:
    """Those who are surely not in the contact's network, by uid."""
    return {uid for uid, sweeps in missing.items() if sweeps >= SPLIT_SWEEPS}
