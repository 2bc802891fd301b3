"""Flags of etcd are honoured, of no consequence, or refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.cli.envtest.etcd_flags import HONOURED, INNER, WORDS, EtcdFlags, read_etcd_flags
from quintant.cli.envtest.flag_set import FlagError, parse_flags
from quintant.cli.envtest.known_words import ETCD_FLAGS
from quintant.core.address import BindAddress


def read(*arguments: str) -> EtcdFlags:
    return read_etcd_flags(parse_flags(arguments, WORDS))


def test_what_test_kits_pass_is_understood() -> None:
    flags = read(
        "--advertise-client-urls=http://127.0.0.1:2379",
        "--listen-client-urls=http://127.0.0.1:2379,http://[::1]:2380",
        "--listen-peer-urls=http://127.0.0.1:2381",
        "--data-dir=/data",
        "--unsafe-no-fsync=true",
    )
    addresses = (BindAddress("127.0.0.1", 2379), BindAddress("::1", 2380))
    assert flags == EtcdFlags(addresses, Path("/data"))


def test_what_the_java_kit_passes_is_understood() -> None:
    flags = read(
        *("-data-dir", "/data", "-wal-dir", "/wal"),
        *("--listen-client-urls", "http://0.0.0.0:2379"),
        *("--advertise-client-urls", "http://0.0.0.0:2379"),
        *("--initial-cluster", "default=http://localhost:2380"),
        *("--initial-advertise-peer-urls", "http://localhost:2380"),
        *("--listen-peer-urls", "http://localhost:2380"),
    )
    assert flags == EtcdFlags((BindAddress("0.0.0.0", 2379),), Path("/data"))


def test_a_real_etcd_has_all_that_is_taken() -> None:
    assert {*HONOURED, *INNER} <= ETCD_FLAGS


def test_every_other_flag_is_refused_by_name() -> None:
    for name in sorted(ETCD_FLAGS - set(HONOURED) - INNER):
        with pytest.raises(FlagError, match=f"--{name} is not supported here"):
            read(f"--{name}=x")


@pytest.mark.parametrize("url", ["foo", "https://127.0.0.1:1", "http://127.0.0.1", "http://a:b"])
def test_only_plain_addresses_are_listened_on(url: str) -> None:
    with pytest.raises(FlagError, match=f'invalid value "{url}" for flag -listen-client-urls'):
        read(f"--listen-client-urls={url}")
