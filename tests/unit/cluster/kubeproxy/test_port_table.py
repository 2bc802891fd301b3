"""The table of mapped ports is read as it was written, and nothing else is."""

from __future__ import annotations

import pytest

from quintant.cluster.kubeproxy.port_table import format_table, parse_table
from quintant.cluster.kubeproxy.routes import RealServer, VirtualServer
from quintant.core.object import Request

HTTP = VirtualServer("TCP", "127.96.0.7", 80)
NAMES = VirtualServer("UDP", "127.96.0.7", 53)


def test_what_is_written_is_read_again() -> None:
    ports = {HTTP: RealServer("127.96.0.7", 20080), NAMES: RealServer("127.0.0.1", 41234)}
    assert parse_table(format_table({Request("web", "default"): ports})) == ports


@pytest.mark.parametrize(
    "line",
    [
        "",
        "127.96.0.7:80/TCP",
        "127.96.0.7:80/TCP is at 10.0.0.1:20080",
        "127.96.0.7:80/TCP is at 127.96.0.7:80",
        "127.96.0.7:80/TCP is at 127.96.0.7:99999",
        "127.96.0.7:80/TCP is at 127.96.0.7:2٣080",
        "127.96.0.7:80/SCTP is at 127.96.0.7:20080",
        "x 127.96.0.7:80/TCP is at 127.96.0.7:20080",
    ],
)
def test_a_line_of_another_hand_counts_for_nothing(line: str) -> None:
    good = "127.96.0.7:80/TCP is at 127.96.0.7:20080"
    assert parse_table({"a.b": f"{line}\n"}) == {}
    assert parse_table({"a.b": f"{line}\n{good}\n"}) == {HTTP: RealServer("127.96.0.7", 20080)}
