"""What is written is read again, and nonsense is called so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.dns.message import (
    CNAME,
    PTR,
    SRV,
    A,
    DnsQuery,
    DnsQuestion,
    DnsResponse,
    MalformedMessage,
    ResourceRecord,
    ResponseCode,
    SrvData,
    encode_query,
    encode_response,
    read_query,
    read_response,
)

labels = st.text("abz09_-", min_size=1, max_size=9)
names = st.lists(labels, min_size=1, max_size=4).map(".".join)
addresses = st.ip_addresses(v=4).map(str)
ports = st.integers(0, 65535)
records = st.one_of(
    st.builds(ResourceRecord, names, st.just(A), addresses, ports),
    st.builds(ResourceRecord, names, st.sampled_from((CNAME, PTR)), names, ports),
    st.builds(
        ResourceRecord, names, st.just(SRV), st.builds(SrvData, ports, ports, ports, names), ports
    ),
)
SOME = st.lists(records, max_size=4)


@given(ports, names)
def test_question_is_read_as_it_was_asked(number: int, name: str) -> None:
    assert read_query(encode_query(number, DnsQuestion(name, A))) == DnsQuery(
        number, DnsQuestion(name, A)
    )


@given(ports, names, st.sampled_from(ResponseCode), SOME, SOME, st.booleans())
def test_answer_is_read_as_it_was_given(
    number: int,
    name: str,
    code: ResponseCode,
    given: list[ResourceRecord],
    extra: list[ResourceRecord],
    cut: bool,
) -> None:
    asked = DnsQuery(number, DnsQuestion(name, A))
    raw = encode_response(asked, DnsResponse(code, tuple(given), tuple(extra), cut))
    assert read_response(raw, number) == DnsResponse(code, (*given, *extra), truncated=cut)


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    for read in (read_query, lambda raw: read_response(raw, 0)):
        try:
            read(raw)
        except MalformedMessage:
            continue


def test_name_that_refers_to_itself_is_refused() -> None:
    header = encode_query(1, DnsQuestion("", A))[:12]
    with pytest.raises(MalformedMessage):
        read_query(header + b"\xc0\x0c" + b"\0\1\0\1")


def test_client_says_how_much_it_takes() -> None:
    asked = bytearray(encode_query(1, DnsQuestion("a.b", A)))
    asked[10:12] = b"\0\1"
    option = b"\0" + b"\0\x29" + (1232).to_bytes(2, "big") + bytes(6)
    assert read_query(bytes(asked) + option).limit == 1232


def test_answer_to_another_question_is_refused() -> None:
    raw = encode_response(DnsQuery(1, DnsQuestion("a", A)), DnsResponse())
    with pytest.raises(MalformedMessage):
        read_response(raw, 2)
