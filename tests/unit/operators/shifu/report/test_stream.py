"""What a client of the stream missed, if it is still known."""

from __future__ import annotations

from quintant.operators.shifu.report.stream import HISTORY, ChangeHistory
from quintant.operators.shifu.topology.edgemap import EdgeMap


def test_what_was_missed_is_told_in_order() -> None:
    edgemap = EdgeMap()
    edgemap.add_node("before", "0")
    history = ChangeHistory(edgemap)
    assert history.since(1) == []
    for number in range(3):
        edgemap.add_node(f"n{number}", "0")
    missed = history.since(2)
    assert missed is not None
    assert [change.version for change in missed] == [3, 4]
    assert history.since(4) == []


def test_what_is_too_old_or_from_elsewhere_is_not_known() -> None:
    edgemap = EdgeMap()
    history = ChangeHistory(edgemap)
    for number in range(HISTORY + 5):
        edgemap.add_node(f"n{number}", "0")
    assert history.since(3) is None
    assert history.since(HISTORY + 99) is None
    assert history.since(HISTORY + 4) is not None
