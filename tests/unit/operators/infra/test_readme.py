"""The contract beside the code says what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from quintant.core.resource import resource_of
from quintant.operators import infra
from quintant.operators.infra.api.cluster import State
from quintant.operators.infra.cloud import plan as cloud_plan
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.answers import ErrorClass
from quintant.operators.infra.options import Options
from quintant.operators.infra.plan.events import TRANSITIONS
from quintant.operators.infra.plan.status import CONDITIONS
from quintant.operators.infra.plan.steps import Step
from quintant.operators.infra.provider import plan as provider_plan
from quintant.runtime.manager.manager import Manager

FOLDER = Path(infra.__file__).parent
README = (FOLDER / "README.md").read_text()
SOURCES = "".join(path.read_text() for path in sorted(FOLDER.rglob("*.py")))


def rows(title: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    part = README.split(f"## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_event_of_the_code_is_listed_with_its_type() -> None:
    listed = {reason: type for type, reason, _ in rows("Events")}
    told = {
        each.event or each.reason: each.type for each in TRANSITIONS if each.event or each.reason
    }
    noted = set(re.findall(r'\bnote\(\s*"(\w+)"', SOURCES)) | {"InfrastructureGone"}
    noted |= set(re.findall(r'PlannedEvent\(\s*"\w+", "(\w+)"', SOURCES))
    assert noted | set(told) == set(listed)
    for reason, type in told.items():
        assert listed[reason] == type, reason


def test_every_step_is_in_the_table() -> None:
    assert [row[0] for row in rows("Steps")] == [each.value for each in Step]


def test_page_has_the_same_table_of_steps() -> None:
    page = (FOLDER.parents[3] / "docs/infra.md").read_text()
    part = README.split("## Steps\n")[1].split("\n## ")[0]
    table = "\n".join(line for line in part.splitlines() if line.startswith("|"))
    assert table in page


def test_every_state_is_in_the_table() -> None:
    assert {row[0] for row in rows("States")} == set(get_args(State)) - {"FAILING_METRICS"}


def test_every_class_of_failures_is_in_the_table() -> None:
    assert [row[0] for row in rows("Failures")] == [each.value for each in ErrorClass]


def test_every_condition_is_in_the_table() -> None:
    listed = {row[0]: row[1] for row in rows("Conditions")}
    of_clusters = [name for name, of in listed.items() if "Cluster" in of or of == "all kinds"]
    assert of_clusters == list(CONDITIONS)
    others = {cloud_plan.PROVIDER_READY, cloud_plan.IN_USE, provider_plan.REACHABLE}
    assert set(listed) - set(CONDITIONS) == others


def test_series_are_those_of_the_code() -> None:
    listed = {row[0].strip("`"): row[1] for row in rows("Metrics")}
    served = {}
    for collector in InfraMetrics().collectors():
        for family in collector.collect():
            name = f"{family.name}_total" if family.type == "counter" else family.name
            served[name] = family.type
    assert served == listed


def test_watched_kinds_are_those_of_the_table() -> None:
    manager = Manager("infra")
    infra.controllers(manager, Options())
    watched = {resource_of(kind).kind for kind in manager.kinds()}
    listed = {row[0].split(":")[0].split(" ")[0] for row in rows("Triggers")}
    assert watched <= listed
