"""What tests of Go packages say is counted as their authors count it."""

from __future__ import annotations

import json
from pathlib import Path

from interop.go_test_outcome import Outcome, outcome


def test_tests_without_tests_inside_are_counted() -> None:
    printed = (
        "a log line without an end\x16--- PASS: TestA (0.00s)\n"
        "\x16--- FAIL: TestB (0.00s)\n"
        "\x16    --- PASS: TestB/one (0.00s)\n"
        "\x16    --- FAIL: TestB/two (0.00s)\n"
        "\x16--- SKIP: TestC (0.00s)\n"
    )
    assert outcome(Path("none.json"), printed) == Outcome(2, ["TestB/two"])


def test_specs_are_counted_in_place_of_the_test_that_runs_them(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    specs = [
        {"State": "passed", "LeafNodeType": "It", "LeafNodeText": "a"},
        {"State": "failed", "LeafNodeType": "It", "LeafNodeText": "b"},
        {"State": "pending", "LeafNodeType": "It", "LeafNodeText": "c"},
        {"State": "passed", "LeafNodeType": "BeforeSuite"},
    ]
    report.write_text(json.dumps([{"SpecReports": specs}]))
    assert outcome(report, "\x16--- FAIL: TestAll (0.00s)\n") == Outcome(1, ["b"])
