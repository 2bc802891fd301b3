"""What a chain announces is understood, and garbage is no plan."""

from __future__ import annotations

import pytest

from quintant.operators.cosmos.api.status import UpgradeInfo
from quintant.operators.cosmos.upgrade_plans.plan import parse_plan, whom_to_ask
from unit.operators.cosmos.observations import observed


def test_a_plan_has_a_name_and_a_height() -> None:
    body = b'{"plan": {"name": "v15", "time": "0001", "height": "254", "info": ""}}'
    assert parse_plan(body) == UpgradeInfo(name="v15", height=254)
    assert parse_plan(b'{"plan": null}') is None
    assert parse_plan(b'{"plan": {"name": "x", "height": "0"}}') is None


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"plan": 7}'])
def test_what_is_no_plan_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="no plan"):
        parse_plan(body)


def test_a_node_that_is_in_sync_is_asked() -> None:
    found = whom_to_ask(observed("!~+"))
    assert found is not None
    assert found.name == "hub-2"
    assert whom_to_ask(observed("!~")) is None
