"""The contract beside the code says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from quintant.core.resource import resource_of
from quintant.operators import cosmos
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.options import Options
from quintant.operators.cosmos.plan.conclusion import TOLD
from quintant.operators.cosmos.scheduled_volume_snapshot import plan as snapshots
from quintant.operators.cosmos.self_healing.act import TOLD as RESTARTS
from quintant.runtime.manager.manager import Manager

FOLDER = Path(cosmos.__file__).parent
README = (FOLDER / "README.md").read_text()
SOURCES = "".join(path.read_text() for path in sorted(FOLDER.rglob("*.py")))


def rows(title: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    part = README.split(f"## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_event_of_the_code_is_listed_with_its_type() -> None:
    listed = {reason: type for type, reason, _ in rows("Events")}
    told = {each.event or each.reason: each.type for each in (*TOLD, *snapshots.TOLD)}
    written = re.findall(r'PlannedEvent\(\s*"(\w+)", "(\w+)"', SOURCES)
    planned = {reason: type for type, reason in written}
    missing = dict.fromkeys(re.findall(r'_missing\("(\w+)"', SOURCES), "Warning")
    direct = {
        reason: "Warning" if "Warning" in rest else "Normal"
        for reason, rest in re.findall(r'ctx\.event\(\s*"(\w+)",([^\n]*(?:\n[^\n]*){0,1})', SOURCES)
    }
    restarts = dict.fromkeys(RESTARTS.values(), "Normal")
    failed = {f"{name}DeletePod": "Warning" for name in RESTARTS.values()}
    direct |= {"PVCAutoScale": "Normal", "CrashLoopRebuild": "Normal"}
    assert told | planned | missing | direct | restarts | failed == listed


def test_every_condition_in_the_table_is_one_of_the_code() -> None:
    known = set(re.findall(r'"([A-Z]\w+)"', SOURCES))
    told = {word for row in rows("Actions") for word in re.findall(r"[A-Z]+[a-z]+[A-Z]\w+", row[3])}
    assert told
    assert told <= known


def test_series_are_those_of_the_code() -> None:
    listed = {row[0].strip("`"): row[1] for row in rows("Metrics")}
    served = {}
    for collector in CosmosMetrics().collectors():
        for family in collector.collect():
            name = f"{family.name}_total" if family.type == "counter" else family.name
            served[name] = family.type
    assert served == listed


def test_watched_kinds_are_those_of_the_table() -> None:
    manager = Manager("cosmos-operator")
    cosmos.controllers(manager, Options())
    watched = {resource_of(kind).kind for kind in manager.kinds()}
    listed = {re.split("[:, ]", row[0])[0] for row in rows("Triggers")}
    assert watched <= listed
