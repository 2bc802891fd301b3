"""Requests to an Infrastructure Manager: signed, counted, in their lane, with errors of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from quintant.client.transport import ApiRequest, ApiResponse, Transport
from quintant.core.clock import monotonic
from quintant.core.errors import TransportError
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observed.answers import ProviderError
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.remote.auth import authorization
from quintant.operators.infra.remote.errors import answer_failure, transport_failure
from quintant.operators.infra.remote.gate import Gate, Lane

LOG_BYTES = 64 * 1024
"""The end of a log that is read; a log may have megabytes."""
LOG_MOST = 16 * 1024 * 1024
_JSON = {"accept": "application/json"}
_YAML = {"content-type": "text/yaml"}


class ImRequests:
    """Asks one Infrastructure Manager, in the name of one session."""

    def __init__(
        self, session: ProviderSession, transport: Transport, gate: Gate, metrics: InfraMetrics
    ) -> None:
        self._session, self._transport, self._gate = session, transport, gate
        self._metrics = metrics

    async def ask(
        self,
        name: str,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        template: Mapping[str, Any] | None = None,
        signed: bool = True,
        seconds: float | None = None,
        lane: Lane = Lane.COMMON,
        changes: bool | None = None,
    ) -> ApiResponse:
        """The answer to a call, if it is a success; ProviderError says what it is else."""
        body = msgspec.json.encode(template) if template is not None else None
        headers = _JSON | (_YAML if body is not None else {})
        call = self._call(method, path, query or {}, headers, body, seconds, signed=signed)
        changing = method != "GET" if changes is None else changes
        began, code = monotonic(), "error"
        try:
            async with self._gate.passage(self._lane(lane)):
                try:
                    answer = await self._transport.request(call)
                except TransportError as error:
                    raise ProviderError(transport_failure(error, changes=changing)) from None
                code = str(answer.status)
                if answer.status != 200:
                    raise ProviderError(
                        answer_failure(answer.status, answer.body, changes=changing)
                    )
                return answer
        finally:
            self._metrics.requested(name, code, monotonic() - began)

    def _lane(self, lane: Lane) -> Lane:
        if not self._session.deleting:
            return lane
        return Lane.LONG_DELETION if lane is Lane.LONG else Lane.DELETION

    def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        body: bytes | None,
        seconds: float | None,
        *,
        signed: bool = True,
    ) -> ApiRequest:
        if signed:
            headers = {**headers, "authorization": authorization(self._session)}
        return ApiRequest(
            method, path, query, headers, body, timeout=seconds or self._session.timeout
        )

    async def tail(self, path: str) -> str:
        """The end of a text; empty if there is none, or not in the time of an answer."""
        call = self._call("GET", path, {}, {"accept": "text/plain"}, None, None)
        async with self._gate.passage(self._lane(Lane.COMMON)):
            try:
                # A stream has no end of its own, and a look waits for this one.
                async with asyncio.timeout(self._session.timeout):
                    return (await self._stream_end(call)).decode("utf-8", "replace")
            except (TransportError, TimeoutError):
                return ""

    async def _stream_end(self, call: ApiRequest) -> bytes:
        kept, total = b"", 0
        async with self._transport.stream(call) as answer:
            if answer.status != 200:
                return b""
            async for chunk in answer.chunks:
                kept, total = (kept + chunk)[-LOG_BYTES:], total + len(chunk)
                if total > LOG_MOST:
                    break
        return kept
