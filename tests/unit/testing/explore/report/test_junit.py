"""JUnit XML, held to what the schema of Ant's reports asks for."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from quintant.testing.explore.report.findings import Findings
from quintant.testing.explore.report.junit import junit_report
from unit.testing.explore.report.reports import HOSTILE, NOW, findings

COUNTS = ["tests", "failures", "errors", "skipped", "time"]
REQUIRED = ["name", "package", "id", "timestamp", "hostname", *COUNTS]
ORDER = ["properties", *["testcase"] * 4, "system-out", "system-err"]


def suites(*explored: Findings) -> list[Element]:
    return list(ElementTree.fromstring(junit_report(explored, NOW)))


def test_a_suite_has_every_attribute_and_its_parts_in_the_order_of_the_schema() -> None:
    first, second = suites(findings(), findings(title="other.yaml"))
    assert sorted(first.attrib) == sorted(REQUIRED)
    assert [each.tag for each in first] == ORDER
    assert (first.get("id"), second.get("id")) == ("0", "1")
    assert first.get("timestamp") == "2026-11-19T04:30:00"


def test_counts_are_those_of_the_cases() -> None:
    (suite,) = suites(findings())
    cases = suite.findall("testcase")
    assert suite.get("tests") == str(len(cases))
    assert suite.get("failures") == str(len(suite.findall("testcase/failure"))) == "1"
    assert suite.get("skipped") == str(len(suite.findall("testcase/skipped"))) == "1"
    assert all(sorted(case.attrib) == ["classname", "name", "time"] for case in cases)


def test_a_failure_has_its_mode_its_story_and_how_to_repeat_it() -> None:
    (suite,) = suites(findings())
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.attrib == {"message": "another world", "type": "crash-after"}
    assert "quiet (1)" in (failure.text or "")
    assert "repeat: quintant explore" in (failure.text or "")


def test_what_fails_at_times_is_no_failure_and_is_told() -> None:
    (suite,) = suites(findings())
    assert "at times (1 of 3): lost@create" in (suite.findtext("system-out") or "")


def test_whatever_a_program_prints_is_text_that_xml_can_hold() -> None:
    (suite,) = suites(findings(why=HOSTILE, title=HOSTILE))
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "<script src='//x'>" in failure.attrib["message"]
    assert "\x00" not in failure.attrib["message"]
