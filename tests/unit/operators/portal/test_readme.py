"""The contract beside the code says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from quintant.api.events import PlannedEvent
from quintant.core.resource import resource_of
from quintant.operators import portal
from quintant.operators.portal.metrics import PortalMetrics
from quintant.operators.portal.options import Options
from quintant.operators.portal.plan import conditions, events
from quintant.operators.portal.tunnel_class.plan import TOLD
from quintant.runtime.manager.manager import Manager

FOLDER = Path(portal.__file__).parent
README = (FOLDER / "README.md").read_text()
SOURCES = "".join(path.read_text() for path in sorted(FOLDER.rglob("*.py")))


def rows(title: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    part = README.split(f"## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_event_of_the_code_is_listed_with_its_type_and_text() -> None:
    listed = {reason: (type, text) for type, reason, text in rows("Events")}
    fixed = [each for each in vars(events).values() if isinstance(each, PlannedEvent)]
    assert len(fixed) == 8
    for notice in fixed:
        assert listed[notice.reason] == (notice.type, notice.note)
    literal = set(re.findall(r'PlannedEvent\(\s*"\w+", "(\w+)"', SOURCES))
    reasons = {each.event or each.reason for each in (*events.REASONS, *TOLD)}
    missing = set(re.findall(r'Transition\(.*event="(\w+)"', SOURCES))
    assert literal | reasons | missing == set(listed)


def test_every_condition_in_the_table_is_one_of_the_code() -> None:
    known = set(re.findall(r'"([A-Z]\w+)"', SOURCES)) | {conditions.OVERDUE}
    known |= {f"Deployment{verb}Failed" for verb in ("Create", "Update")}
    told = {word for row in rows("Actions") for word in re.findall(r"[A-Z][a-z]+[A-Z]\w+", row[3])}
    assert told
    assert told <= known


def test_series_are_those_of_the_code() -> None:
    listed = {row[0].strip("`"): row[1] for row in rows("Metrics")}
    served = {}
    for collector in PortalMetrics().collectors():
        for family in collector.collect():
            name = f"{family.name}_total" if family.type == "counter" else family.name
            served[name] = family.type
    assert served == listed


def test_watched_kinds_are_those_of_the_table() -> None:
    manager = Manager("portal")
    portal.controllers(manager, Options())
    watched = {resource_of(kind).kind for kind in manager.kinds()}
    listed = {row[0].split(":")[0].split(" ")[0] for row in rows("Triggers")}
    assert watched <= listed
