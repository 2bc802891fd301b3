"""Calls between processes: gRPC without generated code, plaintext as all lightpeers speak it.

Connections to other peers are kept and used again; one that has been idle for long is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Any, TypeVar, cast

import grpc
import grpc.aio

from quintant.agents.lightpeer.rpc.calls import Call, Code, Failed, Metadata, Reply, Route
from quintant.agents.lightpeer.rpc.guard import is_local
from quintant.wire.lightpeer import Method
from quintant.wire.message import Message
from quintant.wire.peeradmin import REASON
from quintant.wire.protobuf import Malformed

A = TypeVar("A", bound=Message)
B = TypeVar("B", bound=Message)

CHANNELS = 256
"""Connections kept; with more members than that, the one used longest ago is closed."""
STREAMS = 100
"""Requests of one connection under way at the same time."""
MESSAGE_BYTES = 4 * 1024 * 1024
_OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.enable_http_proxy", 0),
    # A peer that comes back is to be reached at once: it may be asked again every half second.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 500),
    ("grpc.max_reconnect_backoff_ms", 500),
    ("grpc.use_local_subchannel_pool", 1),
)
_SERVER_OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_concurrent_streams", STREAMS),
    ("grpc.so_reuseport", 0),
)


class Channels:
    """Asks other peers over connections that are kept."""

    def __init__(self) -> None:
        self._open: dict[str, grpc.aio.Channel] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def ask(
        self,
        address: str,
        method: Method[A, B],
        message: A,
        *,
        seconds: float,
        metadata: Metadata,
    ) -> Reply[B]:
        """The one answer of a peer."""
        ask: Any = self._channel(address).unary_unary(method.path)
        call = ask(message.encode(), timeout=seconds, metadata=tuple(metadata.items()))
        try:
            raw = await call
            return Reply(_read(method.response, raw), _pairs(await call.trailing_metadata()))
        except grpc.aio.AioRpcError as error:
            raise _failed(error) from None
        finally:
            call.cancel()

    async def stream(
        self,
        address: str,
        method: Method[A, B],
        message: A,
        *,
        seconds: float,
        metadata: Metadata,
    ) -> AsyncGenerator[B, None]:
        """The answers of a peer."""
        ask: Any = self._channel(address).unary_stream(method.path)
        call = ask(message.encode(), timeout=seconds, metadata=tuple(metadata.items()))
        try:
            async for raw in call:
                yield _read(method.response, cast(bytes, raw))
        except grpc.aio.AioRpcError as error:
            raise _failed(error) from None
        finally:
            call.cancel()

    async def close(self) -> None:
        """Close every connection."""
        for channel in self._open.values():
            await channel.close()
        self._open.clear()
        await asyncio.gather(*self._closing)

    def _channel(self, address: str) -> grpc.aio.Channel:
        channel = self._open.pop(address, None)
        if channel is None:
            channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
        self._open[address] = channel
        if len(self._open) > CHANNELS:
            self._retire(self._open.pop(next(iter(self._open))))
        return channel

    def _retire(self, channel: grpc.aio.Channel) -> None:
        task = asyncio.create_task(channel.close(grace=60))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def server(routes: Iterable[Route]) -> grpc.aio.Server:
    """A server of some methods; it has no port yet."""
    made = grpc.aio.server(options=_SERVER_OPTIONS)
    services: dict[str, dict[str, grpc.RpcMethodHandler[Any, Any]]] = {}
    for route in routes:
        _, service, name = route.method.path.split("/")
        services.setdefault(service, {})[name] = _handler(route)
    made.add_generic_rpc_handlers(
        tuple(grpc.method_handlers_generic_handler(*each) for each in services.items())
    )
    return made


def _handler(route: Route) -> grpc.RpcMethodHandler[Any, Any]:
    if route.method.streams:
        return grpc.unary_stream_rpc_method_handler(cast(Any, _streaming(route)))
    return grpc.unary_unary_rpc_method_handler(cast(Any, _single(route)))


def _single(route: Route) -> Callable[[bytes, Any], Awaitable[bytes]]:
    async def answer(raw: bytes, context: Any) -> bytes:
        try:
            request = _read(route.method.request, raw)
            reply = await cast(Awaitable[Reply[Any]], route.run(request, _call(context)))
        except Failed as failure:
            return await _abort(context, failure)
        context.set_trailing_metadata(tuple(reply.metadata.items()))
        encoded: bytes = reply.message.encode()
        return encoded

    return answer


def _streaming(route: Route) -> Callable[[bytes, Any], AsyncGenerator[bytes, None]]:
    async def answer(raw: bytes, context: Any) -> AsyncGenerator[bytes, None]:
        try:
            request = _read(route.method.request, raw)
            async for response in cast(
                AsyncGenerator[Any, None], route.run(request, _call(context))
            ):
                yield response.encode()
        except Failed as failure:
            await _abort(context, failure)

    return answer


async def _abort(context: Any, failure: Failed) -> bytes:
    code = next(each for each in grpc.StatusCode if each.value[0] == failure.code)
    trailing = ((REASON, failure.reason.value),) if failure.reason else ()
    await context.abort(code, failure.text, trailing)
    return b""


def _call(context: Any) -> Call:
    left = context.time_remaining()
    # A client that sets no deadline gets a time so long that it is none.
    seconds = left if left is not None and left < 86400 * 365 else None
    return Call(_pairs(context.invocation_metadata() or ()), seconds, is_local(context.peer()))


def _pairs(metadata: Any) -> dict[str, str]:
    return {key: value for key, value in metadata if isinstance(value, str)}


def _read(kind: type[B], raw: bytes) -> B:
    try:
        return kind.decode(raw)
    except Malformed as error:
        raise Failed(Code.INTERNAL, str(error)) from None


def _failed(error: grpc.aio.AioRpcError) -> Failed:
    number, _ = error.code().value
    return Failed(number, error.details() or "")
