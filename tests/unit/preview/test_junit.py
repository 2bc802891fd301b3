"""What CI reads of a preview: a case per object, red where it must not be."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree

from quintant.preview.junit import as_junit
from quintant.preview.run import Preview
from unit.preview.test_report import PREVIEW

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def failing(*words: str) -> dict[str, str | None]:
    """Name of each case, and what it fails with."""
    root = ElementTree.fromstring(as_junit(PREVIEW, "new.py", set(words), NOW))
    failures = {str(each.get("name")): each.find("failure") for each in root.iter("testcase")}
    return {
        name: None if failure is None else failure.get("message")
        for name, failure in failures.items()
    }


def test_every_object_is_a_case_that_passes_unless_its_change_is_named() -> None:
    assert failing() == {
        "configmaps: ConfigMap shop/b": None,
        "configmaps: ConfigMap shop/a": None,
        "findings": None,
    }
    assert [bool(each) for each in failing("delete").values()] == [True, False, False]


def test_findings_and_conditions_are_cases_of_their_own() -> None:
    assert failing("finding")["findings"] == "2 findings"
    assert failing("status=Degraded")["status=Degraded"] is None


def test_calls_outside_are_a_case_that_fails_if_it_is_named() -> None:
    found = Preview([], [], [], [], 0, ["peers: leave"])
    for words, failures in ((set[str](), "0"), ({"call"}, "1")):
        suite = ElementTree.fromstring(as_junit(found, "new.py", words, NOW))[0]
        assert suite.get("failures") == failures
        assert "peers: leave" in ElementTree.tostring(suite, "unicode")


def test_the_counts_are_those_of_the_cases() -> None:
    suite = ElementTree.fromstring(as_junit(PREVIEW, "new.py", {"delete", "finding"}, NOW))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert suite.findtext("system-out") == "1 delete, 1 update; 1 events, 2 findings"


def test_what_no_xml_can_hold_is_replaced() -> None:
    assert b"\x01" not in as_junit(PREVIEW, "a\x01b", set(), NOW)
