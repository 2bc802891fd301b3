"""The contract beside the code says what the code does."""

from __future__ import annotations

import re

from quintant.api.events import PlannedEvent
from quintant.operators import portal
from quintant.operators.portal.metrics import PortalMetrics
from quintant.operators.portal.options import Options
from quintant.operators.portal.plan import conditions, events
from quintant.operators.portal.tunnel_class.plan import TOLD
from unit.operators.readme import Contract, served, watched

CONTRACT = Contract(portal)


def test_every_event_of_the_code_is_listed_with_its_type_and_text() -> None:
    listed = {reason: (type, text) for type, reason, text in CONTRACT.rows("Events")}
    fixed = [each for each in vars(events).values() if isinstance(each, PlannedEvent)]
    assert len(fixed) == 8
    for notice in fixed:
        assert listed[notice.reason] == (notice.type, notice.note)
    literal = set(re.findall(r'PlannedEvent\(\s*"\w+", "(\w+)"', CONTRACT.sources))
    reasons = {each.event or each.reason for each in (*events.REASONS, *TOLD)}
    missing = set(re.findall(r'Transition\(.*event="(\w+)"', CONTRACT.sources))
    assert literal | reasons | missing == set(listed)


def test_every_condition_in_the_table_is_one_of_the_code() -> None:
    known = CONTRACT.written_names() | {conditions.OVERDUE}
    known |= {f"Deployment{verb}Failed" for verb in ("Create", "Update")}
    assert CONTRACT.conditions()
    assert CONTRACT.conditions() <= known


def test_series_are_those_of_the_code() -> None:
    assert served(PortalMetrics().collectors()) == CONTRACT.series()


def test_watched_kinds_are_those_of_the_table() -> None:
    assert watched(portal.controllers, Options()) <= CONTRACT.triggers()
