"""Figures of operators, from the text of their metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

import msgspec
import pytest

from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.console.boards.overview import OperatorFigures
from quintant.console.boards.pods import CountedPod
from quintant.console.figures import READ_SECONDS, RECONCILES, FiguresReader, parse_totals
from quintant.testing import named

TEXT = """
# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="a",result="success"} 10.0
controller_runtime_reconcile_total{controller="b",result="error"} 2
controller_runtime_reconcile_errors_total{controller="b"} 2
other_total 99
visits_total 7
"""


def test_series_of_all_controllers_are_added_up() -> None:
    names = (*RECONCILES, "visits_total")
    assert parse_totals(TEXT, names) == dict(zip(names, (12.0, 2.0, 7.0), strict=True))


@pytest.mark.parametrize("text", ["", "<html>", "controller_runtime_reconcile_total{ 1", "\0" * 99])
def test_what_is_no_metrics_is_said_to_be_none(text: str) -> None:
    with pytest.raises(ValueError, match="no reconciles"):
        parse_totals(text, RECONCILES)


class ScriptedOperator:
    """An API server with a lease and the proxy to a pod, whose controllers do ten a second."""

    def __init__(self, status: int = 200, holder: str = "shifu-1_abc") -> None:
        self._status, self._holder = status, holder
        self._totals = {"shifu-0": 0, "shifu-1": 0}

    async def request(self, call: ApiRequest) -> ApiResponse:
        if call.path.endswith("/leases/shifu"):
            lease = {"metadata": {"name": "shifu"}, "spec": {"holderIdentity": self._holder}}
            return ApiResponse(200, msgspec.json.encode(lease))
        pods = "/api/v1/namespaces/shifu-system/pods/"
        name = call.path.removeprefix(pods).removesuffix(":8080/proxy/metrics")
        self._totals[name] += int(10 * READ_SECONDS)
        total = self._totals[name]
        text = f"controller_runtime_reconcile_total {total}\nvisits_total {5 * total}\n"
        return ApiResponse(self._status, text.encode())

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing is held."""


class ReportedFigures:
    """An overview with two pods of one operator."""

    def __init__(self) -> None:
        self.figures = OperatorFigures()

    def pods_of(self, system: str) -> Sequence[CountedPod]:
        names = ("shifu-0", "shifu-1")
        return [CountedPod(metadata=named(name, "shifu-system", uid=name)) for name in names]

    def report(self, system: str, figures: OperatorFigures) -> None:
        self.figures = figures


async def read_figures(server: ScriptedOperator) -> OperatorFigures:
    """What an overview knows after two readings."""
    overview = ReportedFigures()
    reader = FiguresReader(Rest(server), overview, {"shifu": "shifu"}, {"shifu": ["visits_total"]})
    running = asyncio.ensure_future(reader.run())
    await asyncio.sleep(READ_SECONDS + 1)
    running.cancel()
    return overview.figures


async def test_the_pod_that_leads_is_asked_and_rates_are_of_the_time_between_two_readings() -> None:
    figures = await read_figures(ScriptedOperator())
    assert (figures.leader, figures.reconcile_rate, figures.error_rate, figures.why) == (
        ("shifu-1_abc", 10.0, 0.0, "")
    )
    assert figures.rates == {"visits_total": 50.0}


async def test_where_nobody_leads_the_rates_of_all_pods_are_added_up() -> None:
    figures = await read_figures(ScriptedOperator(holder="shards"))
    assert (figures.leader, figures.reconcile_rate) == ("shards", 20.0)
    assert figures.rates == {"visits_total": 100.0}


async def test_figures_that_may_not_be_read_are_none_and_it_is_said_what_allows_them() -> None:
    figures = await read_figures(ScriptedOperator(403))
    assert (figures.leader, figures.reconcile_rate) == ("shifu-1_abc", None)
    assert "quintant console --print-role --figures" in figures.why
