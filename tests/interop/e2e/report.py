"""ginkgo's report in JSON: what became of every test that was in focus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec


class _Failure(msgspec.Struct, frozen=True, rename="pascal"):
    message: str = ""


class _Spec(msgspec.Struct, frozen=True, rename="pascal"):
    state: str
    leaf_node_type: str
    leaf_node_text: str = ""
    container_hierarchy_texts: list[str] | None = None
    run_time: int = 0
    failure: _Failure = _Failure()


class _Report(msgspec.Struct, frozen=True, rename="pascal"):
    spec_reports: list[_Spec] | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one test."""

    name: str
    state: str
    """passed, failed, timedout, interrupted, panicked, skipped, pending or aborted."""
    seconds: float
    message: str

    @property
    def passed(self) -> bool:
        return self.state == "passed"


def outcomes(report: Path) -> Iterator[Outcome]:
    """Every test of a report, also those that were not in focus: they are `skipped`."""
    if not report.exists():
        return
    for suite in msgspec.json.decode(report.read_bytes(), type=list[_Report]):
        for spec in suite.spec_reports or ():
            if spec.leaf_node_type == "It":
                name = " ".join((*(spec.container_hierarchy_texts or ()), spec.leaf_node_text))
                yield Outcome(name, spec.state, spec.run_time / 1e9, spec.failure.message)
