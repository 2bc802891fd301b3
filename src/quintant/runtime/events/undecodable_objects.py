"""Objects that are stored and cannot be decoded, reported where people look: events on them.

Nothing is reconciled for such an object, so nothing else would be heard of it. It has a Warning
event once for each of its generations, whoever watches its kind; the metric
`quintant_undecodable_objects` counts it, and an alert follows from that.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from quintant.core.object import Request
from quintant.core.text import one_line
from quintant.runtime.cache.informer import Informer
from quintant.runtime.reconcile.context import Recorder
from quintant.runtime.reconcile.stuck_cleanup import UNFIT, reference


class UndecodableObjects:
    """Reports objects of all caches, each once for as long as it is the same."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._reported: dict[tuple[str, Request], tuple[str, int]] = {}

    def follow(self, informers: Iterable[Informer[Any]]) -> None:
        """Report what is there, and what comes."""
        for informer in informers:
            informer.on_undecodable(partial(self._look, informer))

    def _look(self, informer: Informer[Any], key: Request) -> None:
        entry, unfit = (informer.resource.full_name, key), informer.undecodable.get(key)
        if unfit is None:
            self._reported.pop(entry, None)
            return
        state = unfit.meta.uid, unfit.meta.generation
        if self._reported.get(entry) == state:
            return
        self._reported[entry] = state
        note = (
            f"cannot be decoded, and is left out by this program: {one_line(unfit.why)}; "
            "change the object, or install the version that knows the field"
        )
        self._recorder.event(
            reference(informer.kind, unfit.meta), "Warning", UNFIT, note, action="Decode"
        )
