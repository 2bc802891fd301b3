"""A transport that fails on purpose: the tool to test what a controller does when things go wrong.

    faults = FaultTransport(transport)
    faults.answer(429, retry_after=3, when=verb("patch"), times=50)
    with faults.stall(watch(Pod)):
        ...                                     # every watch of pods is silent, open ones included
    assert not faults.seen(writes)

Rules are asked in the order they were made; each counts its hits, and ends when lifted or after
`times`. Nothing here is left to chance: under a virtual loop a run is the same every time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from quintant.client.request_info import verb_of
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.core.clock import monotonic
from quintant.core.errors import ConnectError, DeadlineExceeded, TransportError
from quintant.testing.faults.match import RequestMatch, anything
from quintant.testing.faults.rule import Effect, FaultRule, status_answer
from quintant.testing.faults.stream import FaultyStream, StreamControl

# What a held or delayed request may take if it has no limit of its own, as over the network.
LIMIT_SECONDS = 60.0
# Requests remembered in `calls`; the oldest are forgotten.
REMEMBERED = 100_000


@dataclass(slots=True)
class SentRequest:
    """A request as it was made, when, and how it went: a status, an error's name, or None yet."""

    call: ApiRequest
    verb: str
    at: float
    outcome: int | str | None = None


class FaultTransport:
    """Wraps a transport and breaks what you tell it to; without a rule it changes nothing."""

    def __init__(self, inner: Transport) -> None:
        self.calls: deque[SentRequest] = deque(maxlen=REMEMBERED)
        self._inner = inner
        self._rules: list[FaultRule] = []
        self._streams: list[FaultyStream] = []
        self._changed = asyncio.Event()

    # Rules: each returns its Fault, to count, to lift, or to use in a `with`.

    def delay(
        self,
        seconds: float,
        when: RequestMatch = anything,
        *,
        times: int | None = None,
        skip: int = 0,
    ) -> FaultRule:
        """Matching requests reach the server so much later."""
        return self._rule(FaultRule(Effect.DELAY, when, times, skip, seconds=seconds))

    def refuse(
        self, when: RequestMatch = anything, *, times: int | None = None, skip: int = 0
    ) -> FaultRule:
        """Matching requests fail before they are sent: ConnectError."""
        return self._rule(FaultRule(Effect.REFUSE, when, times, skip))

    def lose(
        self,
        when: RequestMatch = anything,
        *,
        late: bool = False,
        times: int | None = None,
        skip: int = 0,
    ) -> FaultRule:
        """Matching requests are carried out and their answers lost.

        The connection breaks (ConnectError), or, with `late`, nothing comes (DeadlineExceeded).
        """
        return self._rule(FaultRule(Effect.LOSE, when, times, skip, late=late))

    def answer(
        self,
        status: int,
        *,
        retry_after: int | None = None,
        message: str = "injected",
        when: RequestMatch = anything,
        times: int | None = None,
        skip: int = 0,
    ) -> FaultRule:
        """Matching requests are not carried out and get this answer, with a Status document."""
        reply = status_answer(status, message, retry_after)
        return self._rule(FaultRule(Effect.ANSWER, when, times, skip, reply=reply))

    def stall(self, when: RequestMatch = anything) -> FaultRule:
        """Matching streams, open ones included, stay open and say nothing; requests hang."""
        return self._rule(FaultRule(Effect.STALL, when))

    def lag(self, seconds: float, when: RequestMatch = anything) -> FaultRule:
        """What matching streams say arrives so much later, in its order."""
        return self._rule(FaultRule(Effect.LAG, when, seconds=seconds))

    def truncate(self, when: RequestMatch = anything, *, times: int | None = 1) -> FaultRule:
        """The next piece of a matching stream is cut in its middle, and the connection with it."""
        return self._rule(FaultRule(Effect.TRUNCATE, when, times))

    # Acts: done at once, to the streams that are open; each returns to how many.

    def cut(self, when: RequestMatch = anything, *, clean: bool = False) -> int:
        """Break open streams; `clean` ends them as a server does whose time limit is reached."""
        return self._act(when, lambda faulty: faulty.cut(clean=clean))

    def silence(self, when: RequestMatch = anything) -> int:
        """Leave open streams open and say nothing into them again, as a firewall that forgot them.

        Unlike `stall` it does nothing to streams opened from now on.
        """
        return self._act(when, FaultyStream.silence)

    def garble(
        self, when: RequestMatch = anything, line: bytes = b'{"type":"ADDED","obj\x00\n'
    ) -> int:
        """Say something into open streams that the server did not say; by default, no JSON."""
        return self._act(when, lambda faulty: faulty.say(line))

    def fail(self, status: int, when: RequestMatch = anything, *, message: str = "injected") -> int:
        """Say an ERROR event into open streams, as a server does that gives up on a watch."""
        event = b'{"type":"ERROR","object":%s}\n' % status_answer(status, message).body
        return self._act(when, lambda faulty: faulty.say(event))

    def clear(self) -> None:
        """Lift every rule."""
        for rule in self._rules[:]:
            rule.lift()

    def seen(self, when: RequestMatch = anything) -> list[SentRequest]:
        """The matching requests made so far."""
        return [sent for sent in self.calls if when(sent.call)]

    # The transport itself.

    async def request(self, call: ApiRequest) -> ApiResponse:
        sent = self._note(call)
        try:
            reply = await self._request(call)
        except TransportError as error:
            sent.outcome = type(error).__name__
            raise
        sent.outcome = reply.status
        return reply

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        sent = self._note(call)
        try:
            reply = await self._meet(call)
        except TransportError as error:
            sent.outcome = type(error).__name__
            raise
        if reply is not None:
            sent.outcome = reply.status
            yield ApiStream(reply.status, _once(reply.body), reply.headers)
            return
        async with self._inner.stream(call) as stream, self._faulty(call, stream) as faulty:
            sent.outcome = stream.status
            yield ApiStream(stream.status, faulty.drain(), stream.headers)

    async def close(self) -> None:
        await self._inner.close()

    async def _request(self, call: ApiRequest) -> ApiResponse:
        if not self._rules:
            return await self._inner.request(call)
        try:
            async with asyncio.timeout(call.timeout or LIMIT_SECONDS):
                answer = await self._meet(call)
                self._strike(Effect.STALL, call)
                while self._covering(Effect.STALL, call):
                    await self._changed.wait()
        except TimeoutError:
            raise DeadlineExceeded(f"{call}: no answer in time (injected)") from None
        if answer is not None:
            return answer
        lost = self._strike(Effect.LOSE, call)
        reply = await self._inner.request(call)
        if lost is None:
            return reply
        error = DeadlineExceeded if lost.late else ConnectError
        raise error(f"{call}: the answer was lost (injected)")

    async def _meet(self, call: ApiRequest) -> ApiResponse | None:
        """What happens to a request on its way: it is delayed, refused, or answered."""
        for rule in self._rules[:]:
            if rule.effect is Effect.DELAY and rule.strike(call):
                await asyncio.sleep(rule.seconds)
            elif rule.effect is Effect.REFUSE and rule.strike(call):
                raise ConnectError(f"{call}: the connection was refused (injected)")
            elif rule.effect is Effect.ANSWER and rule.strike(call):
                return rule.reply
        return None

    @asynccontextmanager
    async def _faulty(self, call: ApiRequest, stream: ApiStream) -> AsyncIterator[FaultyStream]:
        control = StreamControl(
            stalled=lambda: bool(self._covering(Effect.STALL, call)),
            lag=lambda: sum(rule.seconds for rule in self._covering(Effect.LAG, call)),
            truncated=lambda: self._strike(Effect.TRUNCATE, call) is not None,
        )
        faulty = FaultyStream(call, control)
        self._streams.append(faulty)
        self._strike(Effect.STALL, call)
        source = asyncio.ensure_future(faulty.fill(stream.chunks))
        try:
            yield faulty
        finally:
            self._streams.remove(faulty)
            source.cancel()
            await asyncio.wait({source})

    def _rule(self, rule: FaultRule) -> FaultRule:
        rule.lifted = self._lift
        self._rules.append(rule)
        if rule.effect is Effect.STALL:
            rule.hits = sum(rule.when(faulty.call) for faulty in self._streams)
        return rule

    def _lift(self, rule: FaultRule) -> None:
        if rule in self._rules:
            self._rules.remove(rule)
        self._changed.set()
        self._changed = asyncio.Event()
        self._act(anything, FaultyStream.wake)

    def _strike(self, effect: Effect, call: ApiRequest) -> FaultRule | None:
        rules = (rule for rule in self._rules if rule.effect is effect)
        return next((rule for rule in rules if rule.strike(call)), None)

    def _covering(self, effect: Effect, call: ApiRequest) -> list[FaultRule]:
        return [rule for rule in self._rules if rule.effect is effect and rule.covers(call)]

    def _act(self, when: RequestMatch, act: Callable[[FaultyStream], None]) -> int:
        streams = [faulty for faulty in self._streams if when(faulty.call)]
        for faulty in streams:
            act(faulty)
        return len(streams)

    def _note(self, call: ApiRequest) -> SentRequest:
        sent = SentRequest(call, verb_of(call), monotonic())
        self.calls.append(sent)
        return sent


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
