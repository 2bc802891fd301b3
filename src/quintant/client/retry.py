"""Retries of requests to an API server: which answers are worth another try, and when.

`with_retries(transport)` wraps any Transport. `retry_delay` decides and is pure. A server that says
Retry-After did not act on the request, so anything may be sent again, and never sooner than it
said, not even by another caller; without Retry-After only what does no harm twice is. Streams pass
through: the watch has a backoff of its own.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import AbstractAsyncContextManager
from typing import Final, NamedTuple, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from quintant.client.token_bucket import TokenBucket
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.core.clock import Random, monotonic
from quintant.core.errors import ConnectError, DeadlineExceeded, TransportError
from quintant.wire.digits import parse_digits

# Attempts in all, the first included.
TRIES = 10
# Where the server names no time: the first pause, doubled each time up to the longest one.
FIRST_SECONDS, LONGEST_SECONDS = 0.1, 5.0
# A share added to the time that a server named, so that those it named it to do not come at once.
SPREAD = 0.1
# Refusals remembered, one per method and path; all are forgotten beyond it, at the price of an
# early request.
REFUSALS = 10_000

# What is counted where there is no status.
NO_ANSWER = "<error>"

_REPEATABLE: Final = frozenset(("GET", "HEAD", "PUT", "DELETE"))
# Answers that come from an overloaded server or from a proxy before it, not from the request.
_PASSING: Final = frozenset((429, 502, 503, 504))


class RetryObserver(Protocol):
    """Counts what is tried again, and what waits for the client's own rate limit."""

    def retried(self, method: str, code: int | str) -> None: ...

    def throttled(self, method: str, seconds: float) -> None: ...


def with_retries(
    transport: Transport,
    random: Random | None = None,
    *,
    bucket: TokenBucket | None = None,
    observer: RetryObserver | None = None,
) -> Transport:
    """A transport that tries again where that may help, within each call's own time limit.

    With a `bucket`, requests also wait for their turn on the client's side.
    """
    return _RetryingTransport(transport, random or Random(), bucket, observer)


def is_repeatable(call: ApiRequest) -> bool:
    """Whether sending a call twice does no harm."""
    return call.idempotent or call.method in _REPEATABLE


def retry_delay(
    call: ApiRequest, outcome: ApiResponse | TransportError, failures: int, roll: float
) -> float | None:
    """Seconds until another try after so many failures, or None to let the outcome stand.

    `roll` is chance, from 0 to 1.
    """
    if failures >= TRIES:
        return None
    if isinstance(outcome, ApiResponse):
        retry_after = _retry_after(outcome)
        if retry_after is not None:
            return retry_after * (1 + SPREAD * roll)
        worth = outcome.status in _PASSING
    else:
        worth = isinstance(outcome, ConnectError)
    if not worth or not is_repeatable(call):
        return None
    longest = min(FIRST_SECONDS * 2.0 ** (failures - 1), LONGEST_SECONDS)
    return longest * (0.5 + 0.5 * roll)


class _Refusal(NamedTuple):
    """An answer that named a time, and when that is."""

    reply: ApiResponse
    until: float


class _RetryingTransport(Struct, frozen=True):
    inner: Transport
    random: Random
    bucket: TokenBucket | None
    observer: RetryObserver | None
    refusals: dict[tuple[str, str], _Refusal] = field(default_factory=dict)

    async def request(self, call: ApiRequest) -> ApiResponse:
        ends = None if call.timeout is None else monotonic() + call.timeout
        outcome: ApiResponse | TransportError
        if self.refusals or self.bucket is not None:
            outcome = self._refused(call) or await self._try(call, ends)
        else:
            try:
                outcome = await self.inner.request(call)
            except TransportError as error:
                outcome = error
            else:
                if outcome.status < 429:  # as a rule
                    return outcome
                self._remember_refusal(call, outcome)
        return await self._retry(call, outcome, ends)

    async def _retry(
        self, call: ApiRequest, outcome: ApiResponse | TransportError, ends: float | None
    ) -> ApiResponse:
        failures = 1
        while not isinstance(outcome, ApiResponse) or outcome.status >= 429:
            wait = retry_delay(call, outcome, failures, self.random.uniform(0, 1))
            if wait is None or (ends is not None and monotonic() + wait >= ends):
                break
            if self.observer is not None:
                self.observer.retried(call.method, _code(outcome))
            await asyncio.sleep(wait)
            outcome = await self._try(_limited(call, ends), ends)
            failures += 1
        if isinstance(outcome, TransportError):
            raise outcome
        return outcome

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        return self.inner.stream(call)

    async def close(self) -> None:
        await self.inner.close()

    async def _try(self, call: ApiRequest, ends: float | None) -> ApiResponse | TransportError:
        if self.bucket is not None:
            left = math.inf if ends is None else ends - monotonic()
            held = self.bucket.reserve(left)
            if held is None:
                return DeadlineExceeded(f"{call}: our own rate limit leaves no time for it")
            if self.observer is not None:
                self.observer.throttled(call.method, held)
            if held:
                await asyncio.sleep(held)
                call = _limited(call, ends)
        try:
            reply = await self.inner.request(call)
        except TransportError as error:
            return error
        if self.refusals or reply.status >= 429:
            self._remember_refusal(call, reply)
        return reply

    def _remember_refusal(self, call: ApiRequest, reply: ApiResponse) -> None:
        """Remember the time that a refusal names; any other answer ends what was said before."""
        seconds = _retry_after(reply)
        if seconds is None:
            self.refusals.pop((call.method, call.path), None)
            return
        if len(self.refusals) >= REFUSALS:
            self.refusals.clear()
        self.refusals[call.method, call.path] = _Refusal(reply, monotonic() + seconds)

    def _refused(self, call: ApiRequest) -> ApiResponse | None:
        """The answer to an earlier call like this one, while the time it named has not come."""
        refusal = self.refusals.get((call.method, call.path))
        left = refusal.until - monotonic() if refusal else 0.0
        if refusal is None or left <= 0:
            return None
        headers = {**refusal.reply.headers, "retry-after": str(math.ceil(left))}
        return replace(refusal.reply, headers=headers)


def _limited(call: ApiRequest, ends: float | None) -> ApiRequest:
    """A call that is sent now, and must be over by then."""
    return call if ends is None else replace(call, timeout=ends - monotonic())


def _retry_after(reply: ApiResponse) -> int | None:
    """The seconds that a refusing server asks to wait."""
    if reply.status != 429 and reply.status < 500:
        return None
    return parse_digits(reply.headers.get("retry-after", ""))


def _code(outcome: ApiResponse | TransportError) -> int | str:
    return outcome.status if isinstance(outcome, ApiResponse) else NO_ANSWER
