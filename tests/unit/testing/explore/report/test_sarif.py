"""SARIF 2.1.0: what its schema requires, and what code scanning reads."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.explore.report.findings import Findings
from quintant.testing.explore.report.sarif import sarif_report
from unit.testing.explore.report.reports import HOSTILE, findings


def run_of(*explored: Findings) -> dict[str, Any]:
    document = json.loads(sarif_report(explored))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    made: dict[str, Any] = run
    return made


def test_every_mode_is_a_rule_and_every_result_points_at_its_own() -> None:
    run = run_of(findings(), findings(title="other.yaml"))
    rules = [each["id"] for each in run["tool"]["driver"]["rules"]]
    assert sorted(rules) == sorted(["undisturbed", *FaultMode])
    assert len(run["results"]) == 4
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["message"]["text"]


def test_what_fails_at_times_is_a_note() -> None:
    levels = [each["level"] for each in run_of(findings())["results"]]
    assert levels == ["error", "note"]


def test_a_result_is_in_the_file_of_the_scenario_and_tells_its_story() -> None:
    result = run_of(findings())["results"][0]
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "config/my%20sample.yaml"
    ((thread,),) = (flow["threadFlows"] for flow in result["codeFlows"])
    texts = [each["location"]["message"]["text"] for each in thread["locations"]]
    assert texts[0] == "- apply sample.yaml"
    assert texts[-1].startswith("=> ")


def test_a_file_whose_name_is_no_utf_8_has_an_address() -> None:
    result = run_of(replace(findings(), file="caf\udce9.yaml"))["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "caf%E9.yaml"


def test_the_same_run_has_the_same_fingerprint_and_another_one_another() -> None:
    prints = [
        json.dumps(result["partialFingerprints"])
        for each in (findings(), findings(why="otherwise"))
        for result in run_of(each)["results"]
    ]
    assert prints[:2] == prints[2:]
    assert prints[0] != prints[1]


def test_whatever_a_program_prints_is_written() -> None:
    assert run_of(findings(why=HOSTILE.replace("\ud800", "")))["results"]
