"""The contract beside the code says what the code does."""

from __future__ import annotations

import re

from quintant.operators import cosmos
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.options import Options
from quintant.operators.cosmos.plan.conclusion import TRANSITIONS
from quintant.operators.cosmos.scheduled_volume_snapshot.plan import conclusion as snapshots
from quintant.operators.cosmos.self_healing.plan.restarts import RESTART_EVENTS
from unit.operators.readme import Contract, served, watched

CONTRACT = Contract(cosmos)


def test_every_event_of_the_code_is_listed_with_its_type() -> None:
    listed = CONTRACT.events()
    told = {each.event or each.reason: each.type for each in (*TRANSITIONS, *snapshots.TRANSITIONS)}
    written = re.findall(r'PlannedEvent\(\s*"(\w+)", "(\w+)"', CONTRACT.sources)
    planned = {reason: type for type, reason in written}
    missing = dict.fromkeys(re.findall(r'_missing\("(\w+)"', CONTRACT.sources), "Warning")
    direct = {
        reason: "Warning" if "Warning" in rest else "Normal"
        for reason, rest in re.findall(
            r'ctx\.event\(\s*"(\w+)",([^\n]*(?:\n[^\n]*){0,1})', CONTRACT.sources
        )
    }
    restarts = dict.fromkeys(RESTART_EVENTS.values(), "Normal")
    failed = {f"{name}DeletePod": "Warning" for name in RESTART_EVENTS.values()}
    direct |= {"PVCAutoScale": "Normal", "CrashLoopRebuild": "Normal"}
    assert told | planned | missing | direct | restarts | failed == listed


def test_every_condition_in_the_table_is_one_of_the_code() -> None:
    assert CONTRACT.conditions()
    assert CONTRACT.conditions() <= CONTRACT.written_names()


def test_series_are_those_of_the_code() -> None:
    assert served(CosmosMetrics().collectors()) == CONTRACT.series()


def test_watched_kinds_are_those_of_the_table() -> None:
    assert watched(cosmos.controllers, Options()) <= CONTRACT.triggers()
