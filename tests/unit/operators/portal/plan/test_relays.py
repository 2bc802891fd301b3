"""Relays are as connected as ready tunnels say, and nothing is assumed."""

from __future__ import annotations

import pytest

from quintant.operators.portal.api import RelayConnection, RelayStatus, RelayTarget
from quintant.operators.portal.observed import Tunnel
from quintant.operators.portal.plan.relays import (
    assumed,
    connections,
    keep_known,
    refusing,
)
from quintant.wire.tunnelreport import RelayReport, Report

ONE = RelayTarget(name="one", url="wss://one.example.com/relay")
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"


def tunnel(state: str, *, ready: bool = True, since: str = EARLY, error: str = "") -> Tunnel:
    relay = RelayReport(ONE.name, ONE.url, state, since, error)
    return Tunnel(ready, Report(1, 1, relays=(relay,)))


def one(*tunnels: Tunnel, before: RelayConnection | None = None) -> RelayConnection:
    (found,) = connections([ONE], tunnels, RelayStatus(connected=(before,)) if before else None)
    return found


def test_relay_nobody_told_of_is_unknown() -> None:
    assert one().status == "Unknown"
    assert one(Tunnel(True, None)).status == "Unknown"


def test_one_ready_tunnel_connects_a_relay() -> None:
    found = one(tunnel("Connected"), tunnel("Backoff", error="refused"))
    assert (found.status, found.connected_at, found.ready_tunnels) == ("Connected", EARLY, 1)
    assert found.last_error == "refused"


def test_last_word_of_a_pod_that_is_not_ready_connects_nothing() -> None:
    assert one(tunnel("Connected", ready=False)).status == "Disconnected"


def test_all_relays_down_is_disconnected_though_no_pod_is_ready() -> None:
    found = one(tunnel("Backoff", ready=False, error="no route"))
    assert (found.status, found.last_error) == ("Disconnected", "no route")


def test_connection_is_as_old_as_when_it_was_first_seen() -> None:
    before = RelayConnection(name="one", status="Connected", connected_at=EARLY)
    assert one(tunnel("Connected", since=LATE), before=before).connected_at == EARLY
    lost = RelayConnection(name="one", status="Disconnected")
    assert one(tunnel("Connected", since=LATE), before=lost).connected_at == LATE


def test_word_about_another_address_of_the_relay_counts_for_nothing() -> None:
    old = RelayReport("one", "wss://old.example.com/relay", "Connected")
    assert one(Tunnel(True, Report(1, 1, relays=(old,)))).status == "Unknown"


def test_assumption_keeps_the_time_of_the_first() -> None:
    (first,) = assumed([ONE], 1, None, EARLY)
    (again,) = assumed([ONE], 1, RelayStatus(connected=(first,)), LATE)
    assert again == first
    (none,) = assumed([ONE], 0, RelayStatus(connected=(first,)), LATE)
    assert none.status == "Disconnected"


def connected(tunnels: int) -> RelayConnection:
    return RelayConnection(name="a", status="Connected", ready_tunnels=tunnels)


LOST = RelayConnection(name="a", status="Disconnected", last_error="gone")
UNKNOWN = RelayConnection(name="a", status="Unknown")


@pytest.mark.parametrize(
    ("before", "now", "believed"),
    [
        (connected(2), UNKNOWN, connected(2)),
        (connected(2), connected(1), connected(2)),
        (connected(2), LOST, connected(2)),
        (LOST, UNKNOWN, LOST),
        (LOST, connected(1), connected(1)),
        (connected(1), connected(3), connected(3)),
        (UNKNOWN, LOST, LOST),
        (None, UNKNOWN, UNKNOWN),
    ],
)
def test_while_tunnels_have_yet_to_tell_only_good_news_is_believed(
    before: RelayConnection | None, now: RelayConnection, believed: RelayConnection
) -> None:
    known = RelayStatus(connected=(before,)) if before else None
    assert keep_known((now,), known) == (believed,)


def test_relays_that_gave_the_name_to_another_are_named() -> None:
    told = (
        RelayReport("a", "wss://a", close_code=4409),
        RelayReport("b", "wss://b", close_code=4401),
    )
    held = Report(1, 1, relays=told)
    targets = [RelayTarget(name=name, url=f"wss://{name}") for name in "ab"]
    assert refusing(targets, [Tunnel(False, held)]) == ["a"]
