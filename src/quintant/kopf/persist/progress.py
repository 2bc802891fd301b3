"""How far the handlers of one change are: a record for each, from storage and back. Pure.

A record is active if its handler takes part in the change that is being handled; others are carried
along, to be taken away with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from quintant.kopf.declare.handlers import Handler
from quintant.kopf.persist.storages import ProgressRecord, ProgressStorage
from quintant.kopf.values.patch import Patch

MOST_CHARACTERS = 4096
"""Of an error's message that is kept: annotations of an object have 256 KiB together."""


@dataclass(frozen=True)
class HandlerOutcome:
    """What one call of a handler led to."""

    final: bool
    delay: float | None = None
    result: Any = None
    exception: Exception | None = None
    subrefs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class HandlerProgress:
    """How far one handler is."""

    started: datetime
    active: bool = False
    stopped: datetime | None = None
    delayed: datetime | None = None
    purpose: str | None = None
    retries: int = 0
    success: bool = False
    failure: bool = False
    message: str | None = None
    subrefs: frozenset[str] = frozenset()
    origin: ProgressRecord | None = None

    @property
    def finished(self) -> bool:
        return self.success or self.failure

    def due(self, now: datetime) -> bool:
        """Whether it may be called."""
        return not self.finished and (self.delayed is None or self.delayed <= now)

    def delay(self, now: datetime) -> float:
        """Seconds until it may be called."""
        return max(0.0, (self.delayed - now).total_seconds()) if self.delayed else 0.0

    def after(self, outcome: HandlerOutcome, now: datetime) -> HandlerProgress:
        """How far it is after one more call."""
        error = outcome.exception
        return replace(
            self,
            stopped=self.stopped or (now if outcome.final else None),
            delayed=None if outcome.delay is None else now + timedelta(seconds=outcome.delay),
            success=outcome.final and error is None,
            failure=outcome.final and error is not None,
            retries=self.retries + 1,
            message=None if error is None else str(error)[:MOST_CHARACTERS],
            subrefs=self.subrefs | outcome.subrefs,
        )

    def record(self) -> ProgressRecord:
        """What is kept of it."""
        return {
            "started": _text(self.started),
            "stopped": _text(self.stopped),
            "delayed": _text(self.delayed),
            "purpose": self.purpose,
            "retries": self.retries,
            "success": self.success,
            "failure": self.failure,
            "message": self.message,
            "subrefs": sorted(self.subrefs) or None,
        }

    @property
    def changed(self) -> bool:
        """Whether it is otherwise than what is kept."""
        kept = {key: value for key, value in self.record().items() if value is not None}
        return kept != self.origin


def progress_of(record: ProgressRecord, now: datetime) -> HandlerProgress:
    """What was kept, as far as it means anything."""
    subrefs = record.get("subrefs")
    retries = record.get("retries")
    return HandlerProgress(
        started=_moment(record.get("started")) or now,
        stopped=_moment(record.get("stopped")),
        delayed=_moment(record.get("delayed")),
        purpose=record.get("purpose") or None,
        retries=retries if isinstance(retries, int) else 0,
        success=bool(record.get("success")),
        failure=bool(record.get("failure")),
        message=record.get("message"),
        subrefs=frozenset(map(str, subrefs)) if isinstance(subrefs, list) else frozenset(),
        origin=record,
    )


class ChangeProgress(Mapping[str, HandlerProgress]):
    """How far all handlers of a change are."""

    def __init__(self, states: Mapping[str, HandlerProgress], now: datetime) -> None:
        self.now = now
        self._states = dict(states)

    @classmethod
    def begin(cls, handlers: Iterable[Handler], now: datetime) -> ChangeProgress:
        """Of handlers of which nothing is kept."""
        return cls({each.id: HandlerProgress(now, active=True) for each in handlers}, now)

    @classmethod
    def fetch(
        cls,
        storage: ProgressStorage,
        body: Mapping[str, Any],
        handlers: Iterable[Handler],
        now: datetime,
    ) -> ChangeProgress:
        """What is kept of the handlers of an object, and of those within them."""
        states: dict[str, HandlerProgress] = {}
        wanted = [handler.id for handler in handlers]
        while wanted:
            key = wanted.pop()
            record = None if key in states else storage.fetch(key=key, body=body)
            if record is not None:
                states[key] = progress_of(record, now)
        return cls(states, now)

    def pursue(self, purpose: str, handlers: Iterable[Handler]) -> ChangeProgress:
        """With these handlers active, for a purpose; those that are not there yet begin."""
        states = dict(self._states)
        for each in handlers:
            held = states.get(each.id) or HandlerProgress(self.now)
            states[each.id] = replace(held, active=True, purpose=purpose)
        return ChangeProgress(states, self.now)

    def after(self, outcomes: Mapping[str, HandlerOutcome], now: datetime) -> ChangeProgress:
        """After some calls."""
        states = {
            id: state.after(outcomes[id], now) if id in outcomes else state
            for id, state in self._states.items()
        }
        return ChangeProgress(states, now)

    @property
    def done(self) -> bool:
        """Whether no active handler is to be called again."""
        return all(each.finished for each in self._states.values() if each.active)

    @property
    def delays(self) -> list[float]:
        """Seconds until each active handler may be called that is not done."""
        return [
            each.delay(self.now)
            for each in self._states.values()
            if each.active and not each.finished
        ]

    @property
    def delay(self) -> float | None:
        """Seconds until the first of them may be called."""
        return min(self.delays, default=None)

    def store(self, storage: ProgressStorage, body: Mapping[str, Any], patch: Patch) -> None:
        """Have a patch keep what is otherwise than what is kept."""
        for id, state in self._states.items():
            if state.changed:
                storage.store(key=id, record=state.record(), body=body, patch=patch)
        storage.flush()

    def purge(
        self,
        storage: ProgressStorage,
        body: Mapping[str, Any],
        patch: Patch,
        handlers: Iterable[Handler],
    ) -> None:
        """Have a patch take away what is kept of these handlers, and of those within them."""
        inner = {id for state in self._states.values() for id in state.subrefs}
        for id in sorted({each.id for each in handlers} | self._states.keys() | inner):
            storage.purge(key=id, body=body, patch=patch)
        storage.flush()

    def __getitem__(self, id: str) -> HandlerProgress:
        return self._states[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)


def deliver_results(outcomes: Mapping[str, HandlerOutcome], patch: Patch) -> None:
    """Have a patch put what handlers returned into the status, each under its id."""
    for id, outcome in outcomes.items():
        if outcome.exception is not None or outcome.result is None:
            continue
        status = patch.setdefault("status", {})
        if isinstance(outcome.result, Mapping):
            held = status.get(id)
            status[id] = {**(held if isinstance(held, Mapping) else {}), **outcome.result}
        else:
            status[id] = outcome.result


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="microseconds")


def _moment(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment if moment is None or moment.tzinfo is not None else moment.replace(tzinfo=UTC)
