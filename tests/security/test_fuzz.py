"""Whatever bytes come in, a parser gives a value or an error that it declares, and soon.

Some thousands of inputs with every run; `make fuzz-bytes INPUTS=1000000` has as many as you like,
others every time.
"""

from __future__ import annotations

import inspect
import os
import time
from itertools import islice
from random import SystemRandom

import pytest

import patience
from security.foreign_bytes import MAKERS, OURS, SAMPLES, Parser, inputs, modules, parsers

WANTED = int(os.environ.get("QUINTANT_FUZZ_INPUTS", "0"))
EACH = 120
"""Inputs of a parser with every run."""
SECONDS = 2.0
"""For one input of at most four kilobytes."""
PARSERS = {each.name: each for each in parsers()}
KNOWN = {
    "agents.broker.packets.PacketParser.feed-0",
    "agents.dns.message.read_query",
    "agents.leveldb.snappy.unpack",
    "agents.portalv1.handshake.TunnelHandshake.answer-0",
    "http.head.parse_request_head",
    "wire.foreign.decode_json",
    "wire.lightpeer.JoinRequest.decode",
    "wire.portal.decode",
}


@pytest.mark.parametrize("name", sorted(PARSERS))
def test_only_declared_errors_come_out_of_a_parser(name: str) -> None:
    parser = PARSERS[name]
    count = max(WANTED // len(PARSERS), 1) if WANTED else EACH
    seed = SystemRandom().randrange(1 << 32) if WANTED else 0
    for raw in inputs(count, seed):
        _run(parser, raw, seed)


def _run(parser: Parser, raw: bytes, seed: int) -> None:
    began = time.monotonic()
    try:
        parser.run(raw)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} of {raw!r}, seed {seed}") from error
    assert time.monotonic() - began < patience.seconds(SECONDS), f"{raw!r}, seed {seed}"


def test_the_walk_finds_the_parsers_that_we_know_of() -> None:
    assert PARSERS.keys() >= KNOWN
    assert len(PARSERS) > 50


def test_what_is_left_out_is_there() -> None:
    functions = {
        f"{module.__name__.removeprefix('quintant.')}.{name}"
        for module in modules()
        for name, value in vars(module).items()
        if inspect.isfunction(value)
    }
    assert OURS.keys() <= functions | {"wire.message.Message.decode"}
    assert all(any(type.__name__ in name for name in PARSERS) for type in MAKERS)


def test_inputs_are_the_same_again_for_the_same_seed() -> None:
    count = 2 * len(SAMPLES)
    assert list(inputs(count, 7)) == list(inputs(count, 7))
    assert list(inputs(count, 7)) != list(inputs(count, 8))
    assert len(list(islice(inputs(count, 7), count + 1))) == count
