"""What watches over a manager follows from its declarations."""

from __future__ import annotations

import json

from quintant import Alert, Manager
from quintant.metrics import Counter
from quintant.runtime.manager.monitoring import monitoring_manifests


def test_alerts_and_series_of_a_program_are_among_those_of_every_manager() -> None:
    manager = Manager("shop", leader_elect=True)
    manager.add_collectors(Counter("shop_sold_total", "Sold."))
    manager.add_alerts(Alert("ShopClosed", "sum(rate(shop_sold_total[5m])) == 0", "Closed."))
    found = monitoring_manifests(manager, "market")
    [rules] = found["prometheusrule"]
    names = [rule["alert"] for group in rules["spec"]["groups"] for rule in group["rules"]]
    assert "OperatorWithoutLeader" in names
    assert names[-1] == "ShopClosed"
    [config] = found["dashboard"]
    assert config["metadata"]["labels"]["grafana_dashboard"] == "1"
    panels = json.loads(config["data"]["shop.json"])["panels"]
    assert [panel["title"] for panel in panels[:2]] == ["shop", "shop_sold_total"]
    assert {each["metadata"]["namespace"] for part in found.values() for each in part} == {"market"}
