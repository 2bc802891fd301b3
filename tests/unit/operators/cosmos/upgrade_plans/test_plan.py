"""What a chain announces is understood, and garbage is no plan."""

from __future__ import annotations

import pytest

from quintant.operators.cosmos.api.status import FullNodeStatus, UpgradeInfo
from quintant.operators.cosmos.upgrade_plans.observed import PlannedUpgrade
from quintant.operators.cosmos.upgrade_plans.plan import (
    PASS_SECONDS,
    parse_plan,
    plan,
    question,
)
from quintant.runtime.reconcile.result import Result
from unit.operators.cosmos.observations import observed

UPGRADE = UpgradeInfo(name="v15", height=254)
KNOWN = {"plannedUpgrade": {"name": "v15", "height": 254}}


def test_a_plan_has_a_name_and_a_height() -> None:
    body = b'{"plan": {"name": "v15", "time": "0001", "height": "254", "info": ""}}'
    assert parse_plan(body) == UPGRADE
    assert parse_plan(b'{"plan": null}') is None
    assert parse_plan(b'{"plan": {"name": "x", "height": "0"}}') is None


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b'{"plan": 7}', b'{"plan": {"height": "9223372036854775808"}}',
     b'{"plan": {"height": "-1"}}', b'{"plan": {"height": "NaN"}}', b'{"plan":' * 50_000,
     b'{"plan": {"height": "\xd9\xa3"}}'],
)  # fmt: skip
def test_what_is_no_plan_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="no plan"):
        parse_plan(body)


def test_a_node_that_is_in_sync_is_asked() -> None:
    pod = question(observed("!~+"))
    assert pod is not None
    assert pod.metadata.name == "hub-2"
    assert question(observed("!~")) is None


def test_what_is_announced_goes_into_the_status_beside_what_others_write() -> None:
    conclusion = plan(PlannedUpgrade(observed("+"), answered=True, upgrade=UPGRADE))
    assert conclusion.change is not None
    before = FullNodeStatus(height={"hub-0": 7})
    after = conclusion.change(before)
    assert (after.planned_upgrade, after.height) == (UPGRADE, {"hub-0": 7})
    withdrawn = plan(PlannedUpgrade(observed("+", status=KNOWN), answered=True))
    assert withdrawn.change is not None
    assert withdrawn.change(after).planned_upgrade is None


@pytest.mark.parametrize(
    "seen",
    [
        PlannedUpgrade(observed("+", status=KNOWN)),
        PlannedUpgrade(observed("+", status=KNOWN), answered=True, upgrade=UPGRADE),
        PlannedUpgrade(observed("+"), answered=True),
    ],
)
def test_no_answer_and_no_news_change_nothing(seen: PlannedUpgrade) -> None:
    conclusion = plan(seen)
    assert (conclusion.change, conclusion.again) == (None, Result(after=PASS_SECONDS))
