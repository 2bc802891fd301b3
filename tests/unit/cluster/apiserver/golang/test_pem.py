"""PEM is read as far as it is whole, and costs what it weighs."""

from __future__ import annotations

import pytest

from quintant.cluster.apiserver.golang.pem import PemBlock, pem_blocks

A = b"-----BEGIN A-----\naGVs\nbG8=\n-----END A-----\n"
B = b"-----BEGIN B C-----\r\neA==\r\n-----END B C-----"


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (A, [PemBlock(b"A", b"hello")]),
        (b"text\n" + A + b"text\n" + B, [PemBlock(b"A", b"hello"), PemBlock(b"B C", b"x")]),
        (
            b"-----BEGIN A-----\nkey: value\n\neA==\n-----END A-----",
            [PemBlock(b"A", b"x", has_headers=True)],
        ),
        (b"-----BEGIN A-----\n" + A, [PemBlock(b"A", b"hello")]),
        (b"-----BEGIN A-----\neA==\n-----END B-----\n" + A, [PemBlock(b"A", b"hello")]),
        (b"-----BEGIN A-----\n!\n-----END A-----\n" + A, [PemBlock(b"A", b"hello")]),
        (b"-----END A-----\n" + A, [PemBlock(b"A", b"hello")]),
        (b"-----BEGIN A\neA==\n-----END A-----", []),
        (b"-----BEGIN A-----\neA==\n-----END A", []),
        (b"-----BEGIN A-----", []),
        (b"", []),
    ],
)
def test_whole_blocks_are_read(text: bytes, blocks: list[PemBlock]) -> None:
    assert list(pem_blocks(text)) == blocks


@pytest.mark.parametrize(
    "text",
    [
        b"-----BEGIN CERTIFICATE-----\n" * 100_000,
        b"-----BEGIN CERTIFICATE-----\n" * 100_000 + b"-----END B-----",
        b"-----END CERTIFICATE-----\n" * 100_000,
        b"-----BEGIN A-----\n-----END B-----\n" * 50_000,
    ],
    ids=["begins", "begins and an end", "ends", "others"],
)
def test_what_never_ends_costs_what_it_weighs(text: bytes) -> None:
    """In another way it would be minutes."""
    assert list(pem_blocks(text)) == []
