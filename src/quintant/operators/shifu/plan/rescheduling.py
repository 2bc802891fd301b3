"""A better place for a deviceShifu, if it is much better, and has been for a while. Pure.

A move costs a device some seconds without its deviceShifu, so it must be worth it. By memory it is
if the other node has more to give even when both readings are off by as much as they well may be,
and by a margin besides; by place, if it is much nearer. Both for several rounds in a row, a few
moves in each round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from quintant.core.object import Request
from quintant.operators.shifu.observed.moves import PlannedMove, ReschedulingView
from quintant.operators.shifu.observed.placement import (
    NoPlacement,
    PlacementDecision,
    PlacementRequest,
    placement_request,
)
from quintant.operators.shifu.plan.placement import CLOSED, NodeOffer, NodeTable
from quintant.operators.shifu.rules.amounts import MEBIBYTE
from quintant.operators.shifu.rules.geo import distance
from quintant.operators.shifu.rules.hints import resolve_hints
from quintant.operators.shifu.rules.limits import MoveLimits
from quintant.operators.shifu.rules.moments import seconds_since

ROUNDS = 3
"""For so many rounds in a row a place must be better."""
NEARER = 0.8
"""Of the old distance, at most."""
NEARER_METERS = 1_000.0
NODE_SHARE = 0.1
"""Of the deviceShifus of one node, at most so many leave in a round; one always may."""


@dataclass(frozen=True, slots=True)
class Resident:
    """A deviceShifu that may move, where it is now."""

    key: Request
    node: str
    want: PlacementRequest
    nearby: bool = False
    """Whether it was placed for its location: such a one never moves for memory."""


Streaks = Mapping[Request, int]
"""For how many rounds in a row each has had a better place."""


def residents(view: ReschedulingView, cooldown: float) -> Iterator[Resident]:
    """Those that may move: up, idle, not pinned, and where they are for `cooldown` seconds."""
    for each in view.devices:
        device, ours = each.device, each.deployment
        if not ours.available:
            continue
        hints = resolve_hints(device)
        stays = hints.node or hints.reschedule != "auto"
        busy = device.status is not None and device.status.busy
        here = seconds_since(ours.placed_at, view.now)
        if stays or busy or here is None or here < cooldown:
            continue
        want = placement_request(device, hints, each.avoided)
        yield Resident(each.key, each.node, want, nearby=ours.kind == "Proximity")


def plan_moves(
    table: NodeTable, devices: Iterable[Resident], streaks: Streaks, limits: MoveLimits
) -> tuple[list[PlannedMove], dict[Request, int]]:
    """The moves of this round, and the streaks for the next one.

    The table is used up: moves are bound in it as they are planned.
    """
    return _Round(table, streaks, limits).plan(devices)


def plan_round(
    view: ReschedulingView,
    new_table: Callable[[], NodeTable],
    streaks: Streaks,
    limits: MoveLimits,
    *,
    cooldown: float,
) -> tuple[list[PlannedMove], dict[Request, int]]:
    """The moves of a round, and the streaks for the next: while any is evacuated, none at all."""
    if view.evacuating:
        return [], {}
    return plan_moves(new_table(), residents(view, cooldown), streaks, limits)


class _Round:
    """One round: what is planned in it so far."""

    def __init__(self, table: NodeTable, streaks: Streaks, limits: MoveLimits) -> None:
        self._table, self._before, self._limits = table, streaks, limits
        self._offers = {offer.name: offer for offer in table.offers}
        self._left: Counter[str] = Counter()
        self._gained: Counter[str] = Counter()
        self._freest = sorted(
            (offer for offer in table.offers if offer.settled and not offer.refusal),
            key=self._lower, reverse=True,
        )  # fmt: skip
        self._ceilings = {offer.name: self._lower(offer) for offer in self._freest}
        """What each had to give before this round: promises only take from it."""
        self._moves: list[PlannedMove] = []
        self._streaks: dict[Request, int] = {}

    def plan(self, devices: Iterable[Resident]) -> tuple[list[PlannedMove], dict[Request, int]]:
        by_node: dict[str, list[Resident]] = {}
        for each in devices:
            by_node.setdefault(each.node, []).append(each)
        for node in sorted(by_node, key=self._fullness):
            self._from_node(node, by_node[node])
        return self._moves, self._streaks

    def _from_node(self, node: str, devices: Sequence[Resident]) -> None:
        offer = self._offers.get(node)
        if offer is None:
            return
        share = max(1, int(self._table.bound(node) * NODE_SHARE))
        for each in devices:
            better = self._nearer(each, offer) if each.nearby else self._freer(each, offer)
            if better is None:
                continue
            lasting = self._before.get(each.key, 0) + 1
            room = len(self._moves) < self._limits.budget and self._left[node] < share
            if lasting < ROUNDS or not room:
                self._streaks[each.key] = min(lasting, ROUNDS)
                continue
            self._move(each, better)

    def _move(self, resident: Resident, better: PlacementDecision) -> None:
        self._moves.append(PlannedMove(resident.key, resident.node, better))
        self._left[resident.node] += 1
        self._gained[resident.node] += resident.want.memory
        self._table.bind(better.node, resident.want.memory)
        self._table.release(resident.node, 0)

    def _freer(self, resident: Resident, old: NodeOffer) -> PlacementDecision | None:
        need, limits = resident.want.memory, self._limits
        free = old.free + self._gained[old.name]
        margin = max(limits.margin * free, limits.margin_bytes)
        least = free + limits.sigma * old.deviation + need + margin
        target = self._freest_for(resident, least + need)
        if target is None:
            return None
        more = (target.free - old.free) // MEBIBYTE
        return PlacementDecision(target.name, "Memory", f"{more} MiB more free than {old.name}")

    def _freest_for(self, resident: Resident, least: float) -> NodeOffer | None:
        """The node with most to give, if that is above `least`; moves of this round count."""
        best, most = None, least
        for offer in self._freest:
            if self._ceilings[offer.name] <= most:
                break
            lower = self._lower(offer)
            better = lower > most and offer.name != resident.node
            if better and not self._table.refusal(offer, resident.want):
                best, most = offer, lower
        return best

    def _nearer(self, resident: Resident, old: NodeOffer) -> PlacementDecision | None:
        found = self._table.find_placement(resident.want)
        if isinstance(found, NoPlacement) or found.node == old.name or found.kind != "Proximity":
            return None
        location = resident.want.location
        if location is None or old.location is None or found.distance is None:
            zone = resident.want.zone
            new = self._offers[found.node]
            return found if zone and new.zone == zone != old.zone else None
        before = distance(location, old.location)
        much = found.distance < NEARER * before and before - found.distance >= NEARER_METERS
        return found if much else None

    def _lower(self, offer: NodeOffer) -> float:
        """What a node has to give even if its reading is off, less what was promised."""
        available = self._table.available(offer.name)
        if available == CLOSED:
            return -1.0
        return available - self._limits.sigma * offer.deviation

    def _fullness(self, node: str) -> tuple[float, str]:
        offer = self._offers.get(node)
        return (offer.free if offer is not None else 0.0, node)
