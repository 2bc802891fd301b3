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
from quintant.console.figures import READ_SECONDS, FiguresReader, parse_totals
from quintant.testing import named

TEXT = """
# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="a",result="success"} 10.0
controller_runtime_reconcile_total{controller="b",result="error"} 2
controller_runtime_reconcile_errors_total{controller="b"} 2
other_total 99
"""


def test_series_of_all_controllers_are_added_up() -> None:
    assert parse_totals(TEXT) == (12.0, 2.0)


@pytest.mark.parametrize("text", ["", "<html>", "controller_runtime_reconcile_total{ 1", "\0" * 99])
def test_what_is_no_metrics_is_said_to_be_none(text: str) -> None:
    with pytest.raises(ValueError, match="no reconciles"):
        parse_totals(text)


class ScriptedOperator:
    """An API server with a lease and the proxy to a pod, whose controllers do ten a second."""

    def __init__(self, status: int = 200) -> None:
        self._status, self._total = status, 0

    async def request(self, call: ApiRequest) -> ApiResponse:
        if call.path.endswith("/leases/shifu"):
            lease = {"metadata": {"name": "shifu"}, "spec": {"holderIdentity": "shifu-1_abc"}}
            return ApiResponse(200, msgspec.json.encode(lease))
        assert call.path == "/api/v1/namespaces/shifu-system/pods/shifu-1:8080/proxy/metrics"
        self._total += int(10 * READ_SECONDS)
        text = f"controller_runtime_reconcile_total {self._total}\n"
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
        return [CountedPod(metadata=named(name, "shifu-system")) for name in names]

    def report(self, system: str, figures: OperatorFigures) -> None:
        self.figures = figures


async def read_figures(server: ScriptedOperator) -> OperatorFigures:
    """What an overview knows after two readings."""
    overview = ReportedFigures()
    reader = FiguresReader(Rest(server), overview, {"shifu": "shifu"})
    running = asyncio.ensure_future(reader.run())
    await asyncio.sleep(READ_SECONDS + 1)
    running.cancel()
    return overview.figures


async def test_the_pod_that_leads_is_asked_and_rates_are_of_the_time_between_two_readings() -> None:
    figures = await read_figures(ScriptedOperator())
    assert (figures.leader, figures.reconcile_rate, figures.error_rate, figures.why) == (
        ("shifu-1_abc", 10.0, 0.0, "")
    )


async def test_figures_that_may_not_be_read_are_none_and_it_is_said_what_allows_them() -> None:
    figures = await read_figures(ScriptedOperator(403))
    assert (figures.leader, figures.reconcile_rate) == ("shifu-1_abc", None)
    assert "quintant console --print-role --figures" in figures.why
