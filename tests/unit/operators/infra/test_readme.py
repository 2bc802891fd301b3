"""The contract beside the code says what the code does."""

from __future__ import annotations

import re
from typing import get_args

from quintant.operators import infra
from quintant.operators.infra.api.cluster_status import State
from quintant.operators.infra.cloud import plan as cloud_plan
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observed.answers import ErrorClass
from quintant.operators.infra.options import Options
from quintant.operators.infra.plan import looks
from quintant.operators.infra.plan.events import TRANSITIONS
from quintant.operators.infra.plan.status import CONDITIONS
from quintant.operators.infra.plan.steps import Step
from quintant.operators.infra.provider import plan as provider_plan
from unit.operators.readme import Contract, served, watched

CONTRACT = Contract(infra)


def test_every_event_of_the_code_is_listed_with_its_type() -> None:
    listed = CONTRACT.events()
    told = {
        each.event or each.reason: each.type for each in TRANSITIONS if each.event or each.reason
    }
    noted = set(re.findall(r'\bnote\(\s*"(\w+)"', CONTRACT.sources)) | {"InfrastructureGone"}
    noted |= set(re.findall(r'PlannedEvent\(\s*"\w+", "(\w+)"', CONTRACT.sources))
    assert noted | set(told) == set(listed)
    for reason, type in told.items():
        assert listed[reason] == type, reason


def test_every_step_is_in_the_table() -> None:
    assert [row[0] for row in CONTRACT.rows("Steps")] == [each.value for each in Step]


def test_page_has_the_same_table_of_steps() -> None:
    assert "\n".join(CONTRACT.table("Steps")) in CONTRACT.page


def test_every_state_is_in_the_table() -> None:
    assert {row[0] for row in CONTRACT.rows("States")} == set(get_args(State)) - {"FAILING_METRICS"}


def test_every_class_of_failures_is_in_the_table() -> None:
    assert [row[0] for row in CONTRACT.rows("Failures")] == [each.value for each in ErrorClass]


def test_every_condition_is_in_the_table() -> None:
    listed = {row[0]: row[1] for row in CONTRACT.rows("Conditions")}
    of_clusters = [name for name, of in listed.items() if "Cluster" in of or of == "all kinds"]
    assert of_clusters == list(CONDITIONS)
    others = {cloud_plan.PROVIDER_READY, looks.IN_USE, provider_plan.REACHABLE}
    assert set(listed) - set(CONDITIONS) == others


def test_series_are_those_of_the_code() -> None:
    assert served(InfraMetrics().collectors()) == CONTRACT.series()


def test_watched_kinds_are_those_of_the_table() -> None:
    assert watched(infra.controllers, Options()) <= CONTRACT.triggers()
