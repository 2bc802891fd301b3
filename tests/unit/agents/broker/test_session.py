"""What the broker keeps for a client that is away or slow has an end, in messages and in bytes."""

from __future__ import annotations

from quintant.agents.broker.packets import PacketParser, Publication, read_publish
from quintant.agents.broker.session import (
    MOST_UNACKNOWLEDGED_BYTES,
    MOST_WAITING_BYTES,
    BrokerSession,
)

LARGE = b"x" * 512 * 1024


def payloads(written: list[bytes]) -> list[bytes]:
    """What a client got."""
    return [
        read_publish(packet).payload for each in written for packet in PacketParser().feed(each)
    ]


def away() -> BrokerSession:
    session = BrokerSession("c", clean=False)
    session.filters["t"] = 1
    return session


def test_of_large_messages_for_one_who_is_away_the_newest_are_kept() -> None:
    session, written = away(), list[bytes]()
    for at in range(40):
        session.deliver(Publication("t", b"%02d" % at + LARGE, qos=1))
    session.attach(written.append)
    session.flush()
    while (count := len(written)) < 40:
        for number in range(1, count + 1):
            session.acknowledge(number)
        if len(written) == count:
            break
    found = payloads(written)
    assert sum(map(len, found)) <= MOST_WAITING_BYTES
    assert [each[:2] for each in found] == [b"%02d" % at for at in range(40 - len(found), 40)]


def test_one_who_acknowledges_nothing_gets_no_more_than_so_many_bytes() -> None:
    session, written = away(), list[bytes]()
    session.attach(written.append)
    for _ in range(40):
        session.deliver(Publication("t", LARGE, qos=1))
    assert sum(map(len, payloads(written))) <= MOST_UNACKNOWLEDGED_BYTES + len(LARGE)


def test_small_messages_wait_as_ever() -> None:
    session, written = away(), list[bytes]()
    for at in range(50):
        session.deliver(Publication("t", b"%d" % at, qos=1))
    session.attach(written.append)
    session.flush()
    assert payloads(written) == [b"%d" % at for at in range(50)]
