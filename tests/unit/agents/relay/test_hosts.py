from __future__ import annotations

import tracemalloc

import pytest

from quintant.agents.relay.hosts import APEX, requested_app, target_of
from quintant.http.head import ProtocolError, RequestHead

DOMAINS = ("relay.example", "other.test")


def asked(*hosts: bytes, target: bytes = b"/", method: bytes = b"GET") -> RequestHead:
    return RequestHead(1, tuple((b"Host", host) for host in hosts), method, target)


@pytest.mark.parametrize(
    ("host", "app"),
    [
        (b"hello.relay.example", "hello"),
        (b"HELLO.Relay.Example:8443", "hello"),
        (b"hello.relay.example.", "hello"),
        (b"x.other.test", "x"),
        (b"relay.example", APEX),
        (b"a.b.relay.example", None),
        (b"hellorelay.example", None),
        (b"example", None),
        (b"_x.relay.example", None),
        (b"-x.relay.example", None),
        (b".relay.example", None),
        (b"[::1]:80", None),
    ],
)
def test_one_label_below_a_domain_is_an_app(host: bytes, app: str | None) -> None:
    assert requested_app(asked(host), DOMAINS) == app


@pytest.mark.parametrize("hosts", [(), (b"a", b"a"), (b"a b",), (b"a@b",), (b"",), (b"a:x",)])
def test_a_request_is_for_exactly_one_host(hosts: tuple[bytes, ...]) -> None:
    with pytest.raises(ProtocolError):
        requested_app(asked(*hosts), DOMAINS)


def test_hosts_that_nobody_has_take_no_memory() -> None:
    tracemalloc.start()
    try:
        for number in range(200):
            assert requested_app(asked(b"a" * 30_000 + b"%d" % number), DOMAINS) is None
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()


def test_an_absolute_target_agrees_with_its_host() -> None:
    assert target_of(asked(b"a.test", target=b"http://a.test/x?y")) == b"/x?y"
    assert target_of(asked(b"a.test", target=b"http://a.test")) == b"/"
    assert target_of(asked(b"a.test", target=b"http://a.test?y")) == b"/?y"
    assert target_of(asked(b"t", target=b"http://t/x")) == b"/x"
    with pytest.raises(ProtocolError):
        target_of(asked(b"a.test", target=b"http://b.test/x"))
    with pytest.raises(ProtocolError):
        target_of(asked(b"a.test", target=b"ftp://a.test/x"))


def test_a_relay_is_no_forward_proxy() -> None:
    with pytest.raises(ProtocolError) as caught:
        target_of(asked(b"a.test", target=b"b.test:443", method=b"CONNECT"))
    assert caught.value.status == 405
    assert target_of(asked(b"a.test", target=b"*", method=b"OPTIONS")) == b"*"
