"""The ranges of a process on their way: taken, filled, at work, drained, released.

    map ──note──> TAKEN ──fill──> at work ──give──> drained? ──grace over──> what is under way ends
                                                       └──> the map is asked to name nobody

Everything but the waiting is synchronous. What is told to controllers and caches is told here:
that keys begin, and that they are another member's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from quintant.core.clock import monotonic
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.shard.layout import range_name, range_names
from quintant.runtime.shard.member import MembershipLost
from quintant.runtime.shard.owned_ranges import OwnedRanges
from quintant.runtime.shard.range_states import OURS, RangeEvent, RangeState
from quintant.runtime.shard.shard_metrics import ShardMetrics

log: Final = get_logger()


class RangeWork(Protocol):
    """What a process does with the ranges it has."""

    async def fill(self) -> None:
        """Return when the caches have everything that was written before the call."""

    def held(self, ranges: frozenset[int]) -> None:
        """Begin to work on the keys of these ranges."""

    def evict(self, ranges: frozenset[int]) -> None:
        """Forget the keys of these ranges: they are another member's."""

    def divide(self, members: int) -> None:
        """Let limits of the whole program be those of so many members together."""


class RangeMoves:
    """What one identity of a process does with its ranges."""

    def __init__(
        self, owned: OwnedRanges, work: RangeWork, metrics: ShardMetrics, member: str, grace: float
    ) -> None:
        self._owned, self._work, self._metrics = owned, work, metrics
        self._member, self._grace = member, grace
        self._given: dict[int, float] = {}
        self._aborted: set[int] = set()

    def note(self, mine: Mapping[int, int]) -> dict[int, int]:
        """Bring states in line with the epochs of ours in the map; what is to be filled now.

        MembershipLost if others have changed what is ours.
        """
        taken: dict[int, int] = {}
        released: set[int] = set()
        for number in {*mine, *self._owned.states}:
            state, epoch = self._owned.state(number), mine.get(number)
            if epoch is None:
                if state is RangeState.RELEASING:
                    self._owned.step(number, RangeEvent.RELEASED)
                    released.add(number)
                elif state is RangeState.TAKING:
                    self._owned.step(number, RangeEvent.NOT_TAKEN)
            elif state in (RangeState.FOREIGN, RangeState.TAKING):
                self._owned.step(number, RangeEvent.TAKEN, epoch)
                taken[number] = epoch
            if state in OURS and state is not RangeState.RELEASING:
                self._check_epoch(number, epoch)
        self._note_taken(taken)
        self._note_released(released)
        return taken

    async def fill(self, taken: Mapping[int, int]) -> None:
        """Begin to work on ranges once the caches have what was written before they were taken."""
        await self._work.fill()
        held = {
            number
            for number, epoch in taken.items()
            if self._owned.epochs.get(number) == epoch
            and self._owned.state(number) is RangeState.FILLING
            and self._owned.step(number, RangeEvent.FILLED) is RangeState.HELD
        }
        self._work.held(frozenset(held))

    def look_again(self) -> None:
        """Look at every key of the ranges at work: something was refused meanwhile."""
        self._work.held(frozenset(self._owned.within((RangeState.HELD,))))

    def give(self, numbers: Iterable[int]) -> None:
        """Take up no new keys of these ranges."""
        for number in numbers:
            self._owned.step(number, RangeEvent.GIVE)
            self._given[number] = monotonic()

    def drain(self) -> None:
        """Let those go that have nothing under way, and end what had its grace."""
        now = monotonic()
        draining = list(self._owned.within((RangeState.DRAINING,)))
        drained = self._owned.drained(draining)
        for number in draining:
            if number in drained:
                self._owned.step(number, RangeEvent.DRAINED)
            elif now - self._given.get(number, now) > self._grace:
                self._insist(number)

    def evict(self, lost: frozenset[int]) -> None:
        """Forget ranges that were taken away."""
        self._metrics.moved("lost", len(lost))
        self._work.evict(lost)

    def _check_epoch(self, number: int, epoch: int | None) -> None:
        if epoch != self._owned.epochs[number]:
            raise MembershipLost(f"range {range_name(number)} was changed by others in the map")

    def _note_taken(self, taken: Mapping[int, int]) -> None:
        if taken:
            self._metrics.moved("taken", len(taken))
            log.info("took ranges", member=self._member, ranges=range_names(taken))

    def _note_released(self, released: set[int]) -> None:
        if not released:
            return
        now = monotonic()
        for number in released:
            self._metrics.handed_over(now - self._given.pop(number, now))
        self._metrics.moved("released", len(released))
        log.info("released ranges", member=self._member, ranges=range_names(released))
        self._aborted -= released
        self._work.evict(frozenset(released))

    def _insist(self, number: int) -> None:
        """End what a range's grace was not enough for."""
        self._owned.abort([number])
        self._owned.overdue[number] = self._given[number]
        if number not in self._aborted:
            keys = self._owned.under_way(number)
            log.warning("range is not given yet", range=range_name(number), under_way=keys)
        self._aborted.add(number)
