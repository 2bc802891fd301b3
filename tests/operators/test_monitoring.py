"""Alerts and dashboards speak of series that an operator at work really has, and lead somewhere."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from examples_support import load_example
from quintant import Manager
from quintant.operators import OPERATORS
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.monitoring import monitoring_manifests
from quintant.testing import InProcessCluster, named
from testbeds import cosmos, infra, klight, portal, shifu
from testbeds.promql import names_in

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/monitoring.md"
FROM_PROMETHEUS = {"up"}
"""Series that Prometheus makes of a scrape."""
OF_TARGETS = {"job", "pod", "process"}
"""Labels that Prometheus gives to every series of a scraped pod, and a parent (`--processes`) to
those of its children."""
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}


@dataclass
class Scrape:
    """The labels of every series that was seen, and the values that each had."""

    labels: dict[str, set[str]] = field(default_factory=dict)
    values: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def read(self, engine: Engine) -> None:
        """Take in what is scraped now; the labels of what has no series yet are as declared."""
        for family in text_string_to_metric_families(engine.metrics.render().decode()):
            for name in (family.name + end for end in SUFFIXES.get(family.type, ("",))):
                self.labels.setdefault(name, set())
            for sample in family.samples:
                self.labels.setdefault(sample.name, set()).update(sample.labels)
                for label, value in sample.labels.items():
                    self.values.setdefault((sample.name, label), set()).add(value)
        for metric in engine.metrics.registry.collect():
            for name in (metric.name + end for end in SUFFIXES.get(metric.type, ("",))):
                self.labels[name].update(getattr(metric, "labels", ()))

    def faults(self, expr: str) -> Iterator[str]:
        """What an expression names and there is not."""
        found = names_in(expr)
        for selector in found.selectors:
            name = selector.name
            if name in FROM_PROMETHEUS:
                continue
            if name not in self.labels:
                yield f"there is no series {name}: {expr}"
                continue
            for label in ({*selector.labels} | found.grouping) - OF_TARGETS:
                if label not in self.labels[name]:
                    yield f"{name} has no label {label}: {expr}"
            for label, wanted in selector.labels.items():
                known = self.values.get((name, label))
                if label not in OF_TARGETS and known is not None and not known >= set(wanted):
                    yield f"{name} has no {label} of {wanted}, but {known}: {expr}"


async def portal_at_work() -> AsyncIterator[Engine]:
    async with portal.opened() as testbed:
        await testbed.ready(relays=2)
        assert testbed.engine is not None
        yield testbed.engine


async def cosmos_at_work() -> AsyncIterator[Engine]:
    async with cosmos.opened() as testbed:
        await testbed.run(replicas=1)
        assert testbed.engine is not None
        yield testbed.engine


async def infra_at_work() -> AsyncIterator[Engine]:
    async with infra.opened() as testbed:
        await testbed.everything()
        assert testbed.engine is not None
        yield testbed.engine


async def klight_at_work() -> AsyncIterator[Engine]:
    cluster = InProcessCluster()
    testbed = klight.KlightTestbed(cluster)
    engine = await testbed.start()
    await testbed.add("p1", "p2")
    yield engine
    await cluster.close()


async def shifu_at_work() -> AsyncIterator[Engine]:
    async with shifu.opened() as testbed:
        await testbed.node("edge")
        await testbed.device("lamp")
        await testbed.placed("lamp")
        yield testbed.engines[0]


AT_WORK: dict[str, Callable[[], AsyncIterator[Engine]]] = {
    "cosmos": cosmos_at_work,
    "infra": infra_at_work,
    "klight": klight_at_work,
    "portal": portal_at_work,
    "shifu": shifu_at_work,
}


@asynccontextmanager
async def elected() -> AsyncIterator[Engine]:
    """A manager with a lease and a webhook, which testbeds do without."""
    cluster, example = InProcessCluster(), load_example("06_webhooks")
    manager = Manager("all", leader_elect=True)
    manager.controls(example.Topic).reconcile(example.reconcile)
    manager.webhooks.validating(example.Topic, example.check)
    engine = await cluster.run(manager)
    await cluster.create(example.Topic(metadata=named("t"), spec=example.TopicSpec(partitions=1)))
    await cluster.advance(1)
    yield engine
    await cluster.close()


def sharded() -> Manager:
    """A manager with shards that says how far its caches are behind, and nothing else."""
    example = load_example("06_webhooks")
    manager = Manager("shards", shards=True, staleness=30)
    manager.controls(example.Topic).reconcile(example.reconcile)
    return manager


def part(operator: str, name: str) -> dict[str, Any]:
    """A generated object of an operator."""
    text = (ROOT / f"deploy/{operator}/monitoring/{name}.yaml").read_text()
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def rules(operator: str) -> list[dict[str, Any]]:
    groups = part(operator, "prometheusrule")["spec"]["groups"]
    return [rule for group in groups for rule in group["rules"]]


def graphs(operator: str) -> list[dict[str, Any]]:
    [text] = part(operator, "dashboard")["data"].values()
    return [panel for panel in json.loads(text)["panels"] if panel["type"] != "row"]


def queries(operator: str) -> list[dict[str, str]]:
    return [target for graph in graphs(operator) for target in graph["targets"]]


@pytest.mark.parametrize("operator", sorted(OPERATORS))
async def test_what_rules_and_graphs_name_is_in_the_scrape(operator: str) -> None:
    scrape = Scrape()
    async with elected() as engine:
        scrape.read(engine)
    async with asynccontextmanager(AT_WORK[operator])() as engine:
        scrape.read(engine)
    named_by = [rule["expr"] for rule in rules(operator)]
    named_by += [query["expr"] for query in queries(operator)]
    assert len(named_by) > 30
    assert [fault for expr in named_by for fault in scrape.faults(expr)] == []


async def test_what_rules_and_graphs_of_shards_and_staleness_name_is_in_the_scrape() -> None:
    scrape, cluster = Scrape(), InProcessCluster()
    scrape.read(await cluster.run(sharded()))
    await cluster.close()
    kept = monitoring_manifests(sharded(), "default")
    [rule_group] = kept["prometheusrule"][0]["spec"]["groups"]
    [text] = kept["dashboard"][0]["data"].values()
    of_both = re.compile("quintant_shard_|quintant_cache_staleness|quintant_stale_")
    named_by = [rule["expr"] for rule in rule_group["rules"]]
    named_by += [
        target["expr"]
        for panel in json.loads(text)["panels"]
        for target in panel.get("targets", ())
    ]
    named_by = [expr for expr in named_by if of_both.search(expr)]
    assert len(named_by) > 10
    assert [fault for expr in named_by for fault in scrape.faults(expr)] == []


@pytest.mark.parametrize(
    ("expr", "fault"),
    [
        ("sum(rate(workqueue_adds[5m]))", "there is no series workqueue_adds"),
        ("sum by (kind) (workqueue_depth)", "workqueue_depth has no label kind"),
        ('workqueue_depth{job="all",queue="a"}', "workqueue_depth has no label queue"),
        ('workqueue_depth{name="b"}', "workqueue_depth has no name of ('b',)"),
    ],
)
async def test_what_is_not_there_is_noticed(expr: str, fault: str) -> None:
    scrape = Scrape()
    async with elected() as engine:
        scrape.read(engine)
    [found] = scrape.faults(expr)
    assert found.startswith(fault)


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_texts_fill_in_only_labels_that_their_expression_keeps(operator: str) -> None:
    for rule in rules(operator):
        filled = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        assert filled <= names_in(rule["expr"]).grouping, rule["alert"]
    for query in queries(operator):
        kept = names_in(query["expr"]).grouping
        filled = set(re.findall(r"{{(\w+)}}", query["legendFormat"]))
        # What is not grouped keeps all of its labels: the pod's, and the lease's name.
        assert filled <= (kept or {"pod", "name"}), query


def test_every_alert_has_a_section_of_its_name_and_no_section_lacks_its_alert() -> None:
    found = {rule["alert"]: rule for name in OPERATORS for rule in rules(name)}
    [of_shards] = monitoring_manifests(sharded(), "default")["prometheusrule"]
    found |= {rule["alert"]: rule for rule in of_shards["spec"]["groups"][0]["rules"]}
    told = re.findall(r"^### (\w+)$", PAGE.read_text(), re.MULTILINE)
    assert set(told) == set(found)
    for name, rule in found.items():
        assert rule["annotations"]["runbook"] == f"docs/monitoring.md#{name.lower()}"


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_prometheus_finds_the_pods_under_the_name_that_rules_select(operator: str) -> None:
    monitor, name = part(operator, "podmonitor"), OPERATORS[operator].name
    deployed = next(
        yaml.safe_load_all((ROOT / f"deploy/{operator}/operator/deployment.yaml").read_text())
    )
    template = deployed["spec"]["template"]
    labels = template["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert labels[monitor["spec"]["jobLabel"]] == name
    assert monitor["metadata"]["namespace"] == deployed["metadata"]["namespace"]
    [endpoint] = monitor["spec"]["podMetricsEndpoints"]
    [container] = template["spec"]["containers"]
    assert endpoint["port"] in [port["name"] for port in container["ports"]]
    selected = [
        selector.labels["job"] for rule in rules(operator)
        for selector in names_in(rule["expr"]).selectors if "job" in selector.labels
    ]  # fmt: skip
    assert set(selected) == {(name,)}


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_panels_have_numbers_and_places_of_their_own(operator: str) -> None:
    [text] = part(operator, "dashboard")["data"].values()
    panels = json.loads(text)["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = {
        (x, y)
        for panel in panels
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    }
    assert len(taken) == sum(panel["gridPos"]["w"] * panel["gridPos"]["h"] for panel in panels)
    assert max(x for x, _ in taken) < 24
