"""The contract beside the code says what the code does."""

from __future__ import annotations

from quintant.operators import shifu
from quintant.operators.shifu.edge_node.plan import TRANSITIONS as NODE_TOLD
from quintant.operators.shifu.metrics import ShifuMetrics
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.plan.conclusion import SUPERSEDED
from quintant.operators.shifu.plan.conditions import TRANSITIONS
from quintant.operators.shifu.plan.move_report import MOVED
from quintant.operators.shifu.topology.topology import Topology
from unit.operators.readme import Contract, served, watched

CONTRACT = Contract(shifu)


def test_every_event_of_the_code_is_listed_with_its_type() -> None:
    listed = CONTRACT.events()
    told = {each.event or each.reason: each.type for each in (*TRANSITIONS, *NODE_TOLD)}
    moved = dict.fromkeys(MOVED.values(), "Warning")
    others = {"Scheduled": "Normal", "Rescheduled": "Normal", SUPERSEDED: "Normal"}
    assert listed == {**told, **moved, **others}


def test_every_condition_in_the_table_is_one_of_the_code() -> None:
    assert CONTRACT.conditions()
    assert CONTRACT.conditions() <= CONTRACT.written_names()


def test_series_are_those_of_the_code() -> None:
    assert served(ShifuMetrics(Topology(Options())).collectors()) == CONTRACT.series()


def test_watched_kinds_are_those_of_the_table() -> None:
    assert watched(shifu.controllers, Options()) <= CONTRACT.triggers()
