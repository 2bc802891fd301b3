"""Events about objects: `kopf.event`, `info`, `warn`, `exception`, from the loop or a thread.

They are written behind, in order, each tried again for a while; one that cannot be written is lost,
and the log says so. What is logged with an object's logger is one, too, if settings say so.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from quintant.client.rest import Rest
from quintant.client.transport import JSON
from quintant.core.clock import Clock, micro_timestamp, timestamp
from quintant.core.errors import QuintantError, ServerError, TooManyRequests, TransportError
from quintant.kopf.declare.contexts import current_events
from quintant.kopf.declare.settings import OperatorSettings
from quintant.kopf.values.body import object_reference
from quintant.kopf.values.fields import walk
from quintant.runtime.observe.logs import get_logger

MOST_CHARACTERS = 1024
"""Of a message: the API server refuses more."""
MOST_WAITING = 10_000
_RETRIED = (TransportError, ServerError, TooManyRequests)

log: Final = get_logger()


class EventPoster:
    """Writes events behind."""

    def __init__(
        self, rest: Rest, settings: OperatorSettings, clock: Clock, namespace: str
    ) -> None:
        self.settings = settings
        self._rest, self._clock, self._namespace = rest, clock, namespace
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue(MOST_WAITING)

    def post(self, reference: Mapping[str, Any], type: str, reason: str, message: str) -> None:
        """Have an event written; callable from any thread."""
        if reference.get("kind") == "Event":
            return
        try:
            running: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is self._loop:
            self._put(dict(reference), type, reason, message)
        else:
            self._loop.call_soon_threadsafe(self._put, dict(reference), type, reason, message)

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._write(*await self._waiting.get())
            self._waiting.task_done()

    async def flush(self, seconds: float) -> None:
        """Wait until all are written, so many seconds at most."""
        waiting = asyncio.ensure_future(self._waiting.join())
        try:
            await asyncio.wait({waiting}, timeout=seconds)
        finally:
            waiting.cancel()

    def _put(self, reference: dict[str, Any], type: str, reason: str, message: str) -> None:
        """On the loop, whose clock says when it was."""
        try:
            self._waiting.put_nowait(self._event(reference, type, reason, message))
        except asyncio.QueueFull:
            log.warning("event lost", why=f"{MOST_WAITING} wait to be written")

    async def _write(self, namespace: str, event: dict[str, Any]) -> None:
        path, headers = f"/api/v1/namespaces/{namespace}/events", {"content-type": JSON}
        body = msgspec.json.encode(event)
        for pause in (*_pauses(self.settings.posting.default_backoffs), None):
            try:
                await self._rest.send(self._rest.write_call("POST", path, {}, headers, body))
                return
            except QuintantError as error:
                if pause is None or not isinstance(error, _RETRIED):
                    log.warning("event lost", why=str(error), reason=event["reason"])
                    return
            await asyncio.sleep(pause)

    def _event(
        self, reference: dict[str, Any], type: str, reason: str, message: str
    ) -> tuple[str, dict[str, Any]]:
        namespace = reference.get("namespace") or self._namespace or "default"
        posting, now = self.settings.posting, self._clock.now()
        if len(message) > MOST_CHARACTERS:
            half = MOST_CHARACTERS // 2 - 2
            message = f"{message[:half]}...{message[-half:]}"
        return namespace, {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"namespace": namespace, "generateName": posting.event_name_prefix},
            "action": "Action?",
            "type": type,
            "reason": reason,
            "message": message,
            "reportingComponent": posting.reporting_component,
            "reportingInstance": posting.reporting_instance,
            "source": {"component": posting.reporting_component},
            "involvedObject": {**reference, "namespace": namespace},
            "firstTimestamp": timestamp(now),
            "lastTimestamp": timestamp(now),
            "eventTime": micro_timestamp(now),
        }


def event(objs: Any, *, type: str, reason: str, message: str = "", backoffs: Any = None) -> None:
    """Have an event about objects, of any type."""
    _post(objs, type, reason, message)


def info(objs: Any, *, reason: str, message: str = "", backoffs: Any = None) -> None:
    """Have an event about objects that all is well."""
    _post(objs, "Normal", reason, message, logging.INFO)


def warn(objs: Any, *, reason: str, message: str = "", backoffs: Any = None) -> None:
    """Have an event about objects that something is not."""
    _post(objs, "Warning", reason, message, logging.WARNING)


def exception(
    objs: Any,
    *,
    reason: str = "",
    message: str = "",
    exc: BaseException | None = None,
    backoffs: Any = None,
) -> None:
    """Have an event about objects, of the exception that is being handled."""
    error = sys.exc_info()[1] if exc is None else exc
    text = " ".join(str(each) for each in (message, error) if each)
    _post(objs, "Error", reason or type(error).__name__, text, logging.ERROR)


def _post(objs: Any, type: str, reason: str, message: str, level: int | None = None) -> None:
    poster: EventPoster | None = current_events.get()
    if poster is None:
        raise LookupError("events are posted within a handler")
    posting = poster.settings.posting
    if not posting.enabled or (level is not None and level < posting.level):
        return
    for obj in walk(objs):
        poster.post(object_reference(obj), type, reason, message)


def _pauses(backoffs: float | Iterable[float]) -> tuple[float, ...]:
    return (backoffs,) if isinstance(backoffs, int | float) else tuple(backoffs)
