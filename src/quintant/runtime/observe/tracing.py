"""Tracing: a span for each reconcile, with cause and result, and one for each of its requests.

Nothing here knows OpenTelemetry: `otel.py` does, and is loaded where tracing is on. Where it is off
there is no tracer, no wrapped transport and nothing that remembers causes: a reconcile pays for one
look at None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from typing import Protocol

from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.core.object import Object, Request
from quintant.core.resource import resource_of
from quintant.runtime.observe import logs

# Causes that a span names; of a key that waits while much happens the first ones say the most.
MOST_CAUSES = 8
UNNAMED = "timer or source"
"""The cause where nothing in the cluster changed: a period, a source, the resync."""
RETRY, LATER = "retry after a failure", "its own wish"


class SeenChange(Protocol):
    """A change of an object, as an informer reports it."""

    @property
    def old(self) -> Object | None: ...
    @property
    def new(self) -> Object | None: ...
    @property
    def initial(self) -> bool: ...


class ReconcileSpan(Protocol):
    """A reconcile under way."""

    @property
    def ids(self) -> Mapping[str, str]:
        """What its log lines carry."""

    def ended(self, result: str, why: str, after: float | None) -> None:
        """How it ended; `after` is when it wants to be called again, in seconds."""


class RequestSpan(Protocol):
    """A request under way."""

    call: ApiRequest
    """What to send: with a header, by which the server can continue the trace."""

    def answered(self, status: int) -> None:
        """What came back."""


class Tracer(Protocol):
    """Who makes spans."""

    def reconcile(
        self, controller: str, key: Request, id: str, causes: Sequence[str]
    ) -> AbstractContextManager[ReconcileSpan]:
        """A span around a reconcile; `id` is the reconcileID of its log lines."""

    def request(self, call: ApiRequest) -> AbstractContextManager[RequestSpan] | None:
        """A span around a request; None outside of any other span."""

    async def close(self) -> None:
        """Send what was not sent yet."""


class ControllerTracing:
    """The spans of one controller, and what its keys wait for."""

    def __init__(self, tracer: Tracer, controller: str, cluster: str = "") -> None:
        self._tracer, self._controller, self._cluster = tracer, controller, cluster
        self._causes: dict[Request, list[str]] = {}

    def note(self, key: Request, cause: str) -> None:
        """A key was added to the queue for a reason."""
        causes = self._causes.setdefault(key, [])
        if cause not in causes and len(causes) < MOST_CAUSES:
            causes.append(cause)

    def changed(self, key: Request, kind: type[Object], change: SeenChange) -> None:
        """A key was added to the queue because an object changed."""
        seen = change.new if change.new is not None else change.old
        if seen is not None:
            located = key.in_cluster(self._cluster) if self._cluster else key
            self.note(located, f"{_verb(change)} {resource_of(kind).kind} {seen.key}")

    def noting(self, wake: Callable[[Request], None], cause: str) -> Callable[[Request], None]:
        """A function that wakes a key, and says why."""

        def woken(key: Request) -> None:
            self.note(key, cause)
            wake(key)

        return woken

    @contextmanager
    def reconcile(self, key: Request, id: str) -> Iterator[ReconcileSpan]:
        """A span, and its ids on every log line meanwhile."""
        causes = self._causes.pop(key, None) or [UNNAMED]
        with (
            self._tracer.reconcile(self._controller, key, id, causes) as span,
            logs.adding(span.ids),
        ):
            yield span


def _verb(change: SeenChange) -> str:
    if change.initial:
        return "found"
    if change.new is None:
        return "deleted"
    return "changed" if change.old is not None else "created"


class TracedTransport:
    """A transport whose requests are spans, each try its own; streams pass, for they do not end."""

    def __init__(self, transport: Transport, tracer: Tracer) -> None:
        self._transport, self._tracer = transport, tracer

    async def request(self, call: ApiRequest) -> ApiResponse:
        opened = self._tracer.request(call)
        if opened is None:
            return await self._transport.request(call)
        with opened as span:
            reply = await self._transport.request(span.call)
            span.answered(reply.status)
            return reply

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        return self._transport.stream(call)

    async def close(self) -> None:
        await self._transport.close()
