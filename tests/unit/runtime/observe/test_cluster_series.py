"""The series of several clusters are one text."""

from __future__ import annotations

from quintant.metrics import Counter, Gauge, Registry, render
from quintant.runtime.observe.cluster_series import ClusterSeries
from quintant.runtime.observe.metrics import Metrics


def registry(count: int, *, more: bool = False) -> Registry:
    counter = Counter("done", "Things done.", ("kind",))
    counter.labels("a").inc(count)
    found = Registry((counter,))
    if more:
        gauge = Gauge("elsewhere", "Only there.")
        gauge.labels().set(1)
        found.register(gauge)
    return found


def test_a_family_stands_once_and_other_clusters_name_themselves() -> None:
    others = {"west": registry(2), "east": registry(3, more=True)}
    text = render((ClusterSeries(registry(1), others),)).decode()
    assert text == (
        "# HELP done_total Things done.\n"
        "# TYPE done_total counter\n"
        'done_total{kind="a"} 1.0\n'
        'done_total{cluster="west",kind="a"} 2.0\n'
        'done_total{cluster="east",kind="a"} 3.0\n'
        "# HELP elsewhere Only there.\n"
        "# TYPE elsewhere gauge\n"
        'elsewhere{cluster="east"} 1.0\n'
    )


def test_without_other_clusters_the_text_is_that_of_home() -> None:
    metrics = Metrics(of_process=False)
    metrics.controller("greeter")
    before = metrics.render()
    assert b"cluster=" not in before
    metrics.clusters["west"] = Metrics(of_process=False)
    metrics.clusters["west"].controller("greeter")
    lines = metrics.render().splitlines()
    assert [line for line in lines if b'cluster="west"' not in line] == before.splitlines()
    assert b'controller_runtime_active_workers{cluster="west",controller="greeter"} 0.0' in lines
