"""What is held of every network between two turns; of one that another process had, nothing.

An epoch is since when networks are this process's own. Those whose ranges were taken at once have
one; without shards there is one for the process.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.operators.klight.metrics import KlightMetrics
from quintant.operators.klight.observe.reader import NetworkEpoch, NetworkState
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.keyed_state import KeyedState


class NetworkStates:
    """The states of networks, and their number in the metrics."""

    def __init__(self, metrics: KlightMetrics) -> None:
        self._metrics = metrics
        self._states = KeyedState(NetworkState)
        self._epochs: WeakValueDictionary[int, NetworkEpoch] = WeakValueDictionary()
        self._last: NetworkEpoch | None = None

    def begin(self, request: Request, ctx: KeyContext) -> tuple[NetworkState, NetworkEpoch, bool]:
        """The state of a network for a turn, its epoch, and whether this is not its first turn."""
        epoch, state = self._epoch(ctx), self._states[request]
        if state.epoch is epoch:
            return state, epoch, True
        state = self._states[request] = NetworkState(epoch=epoch)
        return state, epoch, False

    def end(self, request: Request, *, over: bool) -> None:
        """Note that a turn ended; one that is `over` left no network behind."""
        if over:
            self._states.forget(request)
        populated = (each for each in self._states.values() if each.memory.join.pods)
        self._metrics.networks.set(sum(1 for _ in populated))

    def forget(self, request: Request) -> None:
        """Drop what is held of a network that another process works on from now on."""
        self._metrics.forget(request)
        self.end(request, over=True)

    def _epoch(self, ctx: KeyContext) -> NetworkEpoch:
        known = self._epochs.get(ctx.epoch)
        if known is None:
            known = NetworkEpoch(ctx.clock.now(), monotonic())
            self._last = self._epochs[ctx.epoch] = known
        return known
