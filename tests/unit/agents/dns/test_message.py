"""What is written is read again, and nonsense is called so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.dns.message import (
    CNAME,
    SRV,
    A,
    Answer,
    Code,
    Malformed,
    Query,
    Question,
    Record,
    Service,
    ask,
    read_query,
    read_reply,
    reply,
)

labels = st.text("abz09_-", min_size=1, max_size=9)
names = st.lists(labels, min_size=1, max_size=4).map(".".join)
addresses = st.ip_addresses(v=4).map(str)
ports = st.integers(0, 65535)
records = st.one_of(
    st.builds(Record, names, st.just(A), addresses, ports),
    st.builds(Record, names, st.just(CNAME), names, ports),
    st.builds(Record, names, st.just(SRV), st.builds(Service, ports, ports, ports, names), ports),
)
SOME = st.lists(records, max_size=4)


@given(ports, names)
def test_question_is_read_as_it_was_asked(number: int, name: str) -> None:
    assert read_query(ask(number, Question(name, A))) == Query(number, Question(name, A))


@given(ports, names, st.sampled_from(Code), SOME, SOME, st.booleans())
def test_answer_is_read_as_it_was_given(
    number: int, name: str, code: Code, given: list[Record], extra: list[Record], cut: bool
) -> None:
    asked = Query(number, Question(name, A))
    raw = reply(asked, Answer(code, tuple(given), tuple(extra), cut))
    assert read_reply(raw, number) == Answer(code, (*given, *extra), truncated=cut)


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    for read in (read_query, lambda raw: read_reply(raw, 0)):
        try:
            read(raw)
        except Malformed:
            continue


def test_name_that_refers_to_itself_is_refused() -> None:
    header = ask(1, Question("", A))[:12]
    with pytest.raises(Malformed):
        read_query(header + b"\xc0\x0c" + b"\0\1\0\1")


def test_client_says_how_much_it_takes() -> None:
    asked = bytearray(ask(1, Question("a.b", A)))
    asked[10:12] = b"\0\1"
    option = b"\0" + b"\0\x29" + (1232).to_bytes(2, "big") + bytes(6)
    assert read_query(bytes(asked) + option).limit == 1232


def test_answer_to_another_question_is_refused() -> None:
    raw = reply(Query(1, Question("a", A)), Answer())
    with pytest.raises(Malformed):
        read_reply(raw, 2)
