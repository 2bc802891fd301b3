"""What tests of Go packages say of themselves: ginkgo's report, or what Go prints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

_TEST = re.compile(r"(?:^|\x16) *--- (PASS|FAIL|SKIP): (\S+)", re.MULTILINE)
"""Go marks its own lines, so that none is missed behind a test's unfinished one."""
_FINE = ("passed", "pending", "skipped")


class _Spec(msgspec.Struct, frozen=True, rename="pascal"):
    state: str
    leaf_node_type: str
    leaf_node_text: str = ""


class _Report(msgspec.Struct, frozen=True, rename="pascal"):
    spec_reports: list[_Spec] | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What ran, and what of it failed."""

    passed: int
    failed: list[str]


def flags(report: Path, *, ginkgo: bool, left_out: Iterable[str] = ()) -> Iterator[str]:
    """Those with which a program of tests tells what `outcome` reads."""
    yield "-test.v=test2json"
    if skipped := "|".join(left_out):
        yield f"-test.skip=^({skipped})$"
    if ginkgo:
        yield from ("-ginkgo.no-color", f"-ginkgo.json-report={report}")


def outcome(report: Path, printed: str) -> Outcome:
    """Ginkgo's specs; of a package without any, Go's tests that have none inside."""
    specs = [*_specs(report)] if report.exists() else []
    if specs:
        failed = [each.leaf_node_text for each in specs if each.state not in _FINE]
        return Outcome(sum(each.state == "passed" for each in specs), failed)
    results = _by_name(printed)
    parents = {name.rpartition("/")[0] for name in results}
    ended = {name: word for name, word in results.items() if name not in parents}
    failed = [name for name, word in ended.items() if word == "FAIL"]
    return Outcome(sum(word == "PASS" for word in ended.values()), failed)


def _specs(report: Path) -> Iterator[_Spec]:
    for suite in msgspec.json.decode(report.read_bytes(), type=list[_Report]):
        yield from (each for each in suite.spec_reports or () if each.leaf_node_type == "It")


def _by_name(printed: str) -> Mapping[str, str]:
    return {name: word for word, name in _TEST.findall(printed)}
