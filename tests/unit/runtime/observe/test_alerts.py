"""Alerts become rules as Prometheus reads them."""

from __future__ import annotations

import pytest

from quintant.runtime.observe.alerts import Alert, manager_alerts, rule_groups, with_runbook


def test_an_alert_becomes_a_rule() -> None:
    alert = Alert("Quiet", "sum(rate(a_total[5m])) == 0", "Nothing happens.", 15, "critical", "r")
    assert alert.rule() == {
        "alert": "Quiet",
        "expr": "sum(rate(a_total[5m])) == 0",
        "for": "15m",
        "labels": {"severity": "critical"},
        "annotations": {"summary": "Nothing happens.", "runbook": "r"},
    }


def test_a_runbook_is_told_only_if_there_is_one() -> None:
    assert Alert("A", "up", "S.").rule()["annotations"] == {"summary": "S."}


def test_alerts_of_ours_lead_to_their_sections() -> None:
    [found] = with_runbook(Alert("ShopClosed", "up", "S."))
    assert found.runbook == "docs/monitoring.md#shopclosed"


@pytest.mark.parametrize(
    ("has", "present", "absent"),
    [
        ("elects", "OperatorWithoutLeader", "OperatorWebhookErrors"),
        ("webhooks", "OperatorWebhookErrors", "ShardsUneven"),
        ("shards", "ShardRangesUnserved", "OperatorWithoutLeader"),
        ("staleness", "OperatorCacheStale", "ShardRangesUnserved"),
    ],
)
def test_a_manager_is_asked_for_what_it_has(has: str, present: str, absent: str) -> None:
    asked = {each: each == has for each in ("elects", "webhooks", "shards", "staleness")}
    names = {each.name for each in manager_alerts("shop", **asked)}
    assert present in names
    assert absent not in names


def test_every_rule_of_a_manager_selects_its_own_series() -> None:
    alerts = manager_alerts("shop", elects=True, webhooks=True, shards=True, staleness=True)
    [group] = rule_groups("shop", alerts)
    assert group["name"] == "shop"
    assert all('job="shop"' in rule["expr"] for rule in group["rules"])
