"""Every parser of foreign bytes in agents, HTTP and wire formats, found by a walk; and its inputs.

A parser is a public function whose first parameter is bytes, or a class that is fed with bytes.
What it may raise is declared: an error of ours that its module knows, or one that its text names.
"""

from __future__ import annotations

import builtins
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from itertools import islice
from random import Random
from types import ModuleType
from typing import Any, NamedTuple

import quintant.agents
import quintant.http
import quintant.wire
from quintant.agents.broker.packets import Publication, encode_publish
from quintant.agents.leveldb.log_file import encode_record
from quintant.agents.leveldb.write_batch import encode_batch
from quintant.agents.multiplex.session import MultiplexSession
from quintant.agents.multiplex.websocket import FrameReader
from quintant.agents.portalv1.handshake import (
    Ambient,
    SessionKeys,
    TunnelHandshake,
    VisitorHandshake,
)
from quintant.agents.portalv1.identity import PortalCredential
from quintant.agents.portalv1.messages import ConnectionRequest, PacketType, packet
from quintant.agents.portalv1.records import RecordOpener, RecordSealer
from quintant.agents.portalv1.session import YamuxSession
from quintant.http.body import BodyParser
from quintant.http.framing import Framing, FramingKind
from quintant.http.response_parser import ResponseParser
from quintant.wire.lightpeer import JoinResponse, Lightblock
from quintant.wire.portal import Opening, data, encode, open_frame
from unit.agents.multiplex.ends import joined
from unit.agents.portalv1.yamux_ends import joined as yamux_joined

ROOMS = (quintant.agents, quintant.http, quintant.wire)
FEEDING = ("feed", "answer", "receive", "decode")
"""What classes call it to take foreign bytes."""
RESULTS = 10_000
"""Of a generator: none yields more for an input of this size."""
LONGEST = 4096
DEPTH = 2000
_BYTES = {"bytes", "bytearray", "memoryview", "Bytes"}
_ANNOTATION = re.compile(r"[\w.]+")
_KEYS, _SEED = SessionKeys(b"k" * 32, b"k" * 32), b"s" * 32


def _multiplex_end(at: int) -> MultiplexSession:
    return joined(window=1 << 20)[at].session


def _yamux_end(at: int) -> YamuxSession:
    return yamux_joined()[at].session


ARGUMENTS: dict[str, Any] = {
    "ambient": Ambient(), "kind": dict, "name": "pod", "number": 7, "at": 0, "code": 1006,
    "scalars_are_text": True,
}  # fmt: skip
"""For further parameters, by their names."""
MAKERS: dict[type, tuple[Callable[[], Any], ...]] = {
    BodyParser: tuple(
        partial(BodyParser, Framing(kind, 20)) for kind in FramingKind if kind.name != "NONE"
    ),
    FrameReader: (partial(FrameReader, True, 1 << 16), partial(FrameReader, False, 1 << 16)),
    MultiplexSession: tuple(partial(_multiplex_end, at) for at in (0, 1)),
    RecordOpener: (partial(RecordOpener, _KEYS),),
    ResponseParser: (partial(ResponseParser, "GET"), partial(ResponseParser, "HEAD")),
    TunnelHandshake: (partial(TunnelHandshake, PortalCredential(_SEED)),),
    VisitorHandshake: (partial(VisitorHandshake, PortalCredential(_SEED), "lease"),),
    YamuxSession: tuple(partial(_yamux_end, at) for at in (0, 1)),
}
"""How classes are made that cannot be made of nothing."""
OURS = {
    "agents.deviceshifu.drivers.modbus_values.decode_values": "of a length that was checked",
    "agents.deviceshifu.drivers.modbus_wire.bits_of": "of a length that was checked",
    "agents.deviceshifu.drivers.modbus_wire.body_length": "of a length that was read",
    "agents.deviceshifu.drivers.modbus_wire.read_answer": "of a length that was read",
    "agents.leveldb.varints.written_bytes": "an encoder",
    "agents.multiplex.mask.mask_with_integers": "no format: any bytes, and a mask",
    "agents.multiplex.websocket.fresh_key": "makes a key of random bytes",
    "agents.portalv1.handshake.derive_key": "of secrets that were agreed upon",
    "agents.portalv1.messages.framed": "an encoder",
    "wire.message.Message.decode": "what all messages share; each of them is tried",
}
"""What takes bytes and reads nothing foreign, or not by itself; beside what is named encode_…"""


class Parser(NamedTuple):
    """Something that foreign bytes are given to."""

    name: str
    call: Callable[[bytes], Any]
    declared: tuple[type[BaseException], ...]

    def run(self, raw: bytes) -> None:
        """Read something to its end; whatever is not declared comes out."""
        try:
            found = self.call(raw)
            if isinstance(found, Iterator):
                for _ in islice(found, RESULTS):
                    pass
        except self.declared:
            return


def parsers() -> Iterator[Parser]:
    """All parsers that the walk finds."""
    for module in modules():
        for name, value in vars(module).items():
            if getattr(value, "__module__", "") != module.__name__ or name.startswith("_"):
                continue
            if inspect.isfunction(value):
                yield from _functions(module, value)
            elif inspect.isclass(value) and not getattr(value, "_is_protocol", False):
                yield from _classes(module, value)


def modules() -> Iterator[ModuleType]:
    for room in ROOMS:
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            if not found.name.endswith("sitecustomize"):
                yield import_module(found.name)


def _functions(module: ModuleType, function: Callable[..., Any]) -> Iterator[Parser]:
    name = _name(module, function)
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or not _takes_bytes(parameters[0]) or inspect.iscoroutinefunction(function):
        return
    if name in OURS or function.__name__.startswith("encode"):
        return
    more = {
        each.name: ARGUMENTS[each.name]
        for each in parameters[1:]
        if each.default is inspect.Parameter.empty
    }
    yield Parser(name, lambda raw: function(raw, **more), _declared(function))


def _classes(module: ModuleType, made: type) -> Iterator[Parser]:
    for word in FEEDING:
        found = inspect.getattr_static(made, word, None)
        name = f"{_name(module, made)}.{word}"
        if found is None or name in OURS or not callable(getattr(made, word)):
            continue
        declared = _declared(getattr(made, word))
        parameters = list(inspect.signature(getattr(made, word)).parameters.values())
        if isinstance(found, classmethod):
            yield Parser(name, getattr(made, word), declared)
        elif len(parameters) > 1 and _takes_bytes(parameters[1]):
            for at, maker in enumerate(MAKERS.get(made, (made,))):
                yield Parser(f"{name}-{at}", partial(_feed, maker, word), declared)


def _feed(maker: Callable[[], Any], word: str, raw: bytes) -> None:
    """Give something its bytes in two pieces, as a network might."""
    fed, cut = maker(), len(raw) // 2
    for piece in (raw[:cut], raw[cut:]):
        found = getattr(fed, word)(piece)
        if isinstance(found, Iterator):
            for _ in islice(found, RESULTS):
                pass
        if word == "feed" and hasattr(fed, "next"):
            while fed.next() is not None:
                pass


def _takes_bytes(parameter: inspect.Parameter) -> bool:
    words = set(_ANNOTATION.findall(str(parameter.annotation)))
    return bool(words & _BYTES) and not words & {"Iterable", "Sequence", "Mapping", "tuple", "IO"}


def _declared(function: Any) -> tuple[type[BaseException], ...]:
    """Errors of ours that the function's module knows, and others that its text names."""
    known = vars(sys.modules[function.__module__]).values()
    ours = [each for each in known if _is_error(each) and each.__module__.startswith("quintant.")]
    named = re.findall(r"\b[A-Z]\w+", inspect.getdoc(function) or "")
    everywhere = {**vars(builtins), **_errors()}
    others = [everywhere[name] for name in named if _is_error(everywhere.get(name))]
    return (*ours, *others)


@cache
def _errors() -> dict[str, Any]:
    """Every error of the rooms, by its name."""
    values = (value for module in modules() for value in vars(module).values())
    return {value.__name__: value for value in values if _is_error(value)}


def _is_error(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, Exception)


def _name(module: ModuleType, what: Any) -> str:
    return f"{module.__name__.removeprefix('quintant.')}.{what.__qualname__}"


_PUBLISHED = Publication("a/b", b"payload", 1, True, 7)
_QUERY = b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03web\x04shop\x00\x00\x01\x00\x01"
_ANSWER = (
    b"\x00\x07\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00\x03web\x00\x00\x01\x00\x01"
    b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04\x7f\x00\x00\x01"
)
SAMPLES = (
    b"GET /a?b=c HTTP/1.1\r\nHost: web\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nT: x\r\n\r\n",
    b"5;x=y\r\nhello\r\n0\r\n\r\n",
    b'{"result": {"node_info": {"network": "a"}, "sync_info": {"catching_up": false}, "n": "7"}}',
    b'{"jsonrpc": "2.0", "result": {"n_peers": "2", "peers": [{"a": 1e400}]}, "id": -1}',
    b'{"rawData": "aGk=", "mqttSetting": {"MQTTTopic": "t", "MQTTServerAddress": "127.0.0.1:1"}}',
    b'{"type": "MODIFIED", "object": {"metadata": {"name": "a"}, "code": 410}}',
    b'{"tokens": [{"sha256": "' + b"0" * 64 + b'", "names": ["a"]}]}',
    b"a: &x [1, 2]\nb: *x\nc: {d: !!binary aGk=, e: 2026-01-01, f: .inf}\n",
    b"\x10\x15\x00\x04MQTT\x04\x02\x00\x3c\x00\x09aclientid",
    b"\x82\x0a\x00\x01\x00\x05a/+/b\x01",
    encode_publish(_PUBLISHED),
    b"\x82\x85abcd" + bytes(one ^ two for one, two in zip(b"hello", b"abcda", strict=True)),
    b"\x81\x7e\x00\x80" + b"x" * 128,
    b"\x88\x02\x03\xe8",
    b"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x05hello",
    b"\x00\x01\x00\x01\x00\x00\x00\x02\x00\x00\x00\x00",
    _QUERY,
    _ANSWER,
    encode_record(encode_batch(1, [(b"key", b"value"), (b"gone", None)]), 0),
    encode_batch(1, [(b"key", b"value" * 40)]),
    b"\x0c\x08hello\x0d\x05\x05",
    packet(PacketType.CONNECTION_REQUEST, ConnectionRequest("lease"))[4:],
    RecordSealer(_KEYS).seal(b"content"),
    JoinResponse().encode(),
    Lightblock().encode() + b"\x0a\x03abc\x12\x02\x08\x01",
    encode(open_frame(1, Opening(1, "192.0.2.1", "id"))),
    data(1, b"hello", True),
)
"""What parsers understand: one of them each, and all get all."""
_TELLING = (0, 1, 2, 9, 10, 13, 32, 34, 91, 123, 126, 127, 128, 192, 254, 255)


def inputs(count: int, seed: int) -> Iterator[bytes]:
    """So many inputs; the same again for the same seed."""
    random = Random(seed)
    yield from islice((b"", *SAMPLES, b"[" * DEPTH, b'{"a":' * DEPTH, b"\n" * DEPTH), count)
    for _ in range(count - len(SAMPLES) - 4):
        yield _mutated(random)[:LONGEST]


def _mutated(random: Random) -> bytes:
    if random.random() < 0.1:
        return random.randbytes(random.randrange(64))
    raw = bytearray(random.choice(SAMPLES))
    for _ in range(random.choice((1, 1, 2, 5))):
        at, size = random.randint(0, len(raw)), random.randint(0, 8)
        match random.randrange(6):
            case 0:
                del raw[at:]
            case 1:
                raw[at : at + 1] = bytes([random.choice(_TELLING)])
            case 2:
                del raw[at : at + size]
            case 3:
                raw[at:at] = random.randbytes(size)
            case 4:
                raw[at:at] = raw[at : at + size] * random.choice((1, 2, 100))
            case 5:
                other = random.choice(SAMPLES)
                raw[at:] = other[random.randint(0, len(other)) :]
    return bytes(raw)
