"""JUnit XML: a suite for every scenario, a case for every run; what CI shows of tests.

In the order and with the attributes that the schema of Ant's reports asks for, which others read as
well. What failed at times is no failure: it passes, and the output of the suite says how often it
did not. A run that was not made is skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from quintant.testing.explore.report.findings import FailingRun, Findings, Untried
from quintant.wire.xml_text import legal_text

PACKAGE = "quintant.explore"
HOST = "localhost"
"""The name of a machine is nobody's business, and the schema wants one."""


def junit_report(explored: Sequence[Findings], now: datetime) -> bytes:
    """The document; `now` is when the exploration ended."""
    root = Element("testsuites")
    for number, findings in enumerate(explored):
        root.append(_suite(findings, number, now))
    ElementTree.indent(root)
    made: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return made + b"\n"


def _suite(findings: Findings, number: int, now: datetime) -> Element:
    outcomes = list(findings.outcomes())
    suite = Element(
        "testsuite",
        {
            "name": legal_text(findings.title),
            "package": PACKAGE,
            "id": str(number),
            "timestamp": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
            "hostname": HOST,
            "tests": str(len(outcomes)),
            "failures": str(len(findings.failures)),
            "errors": "0",
            "skipped": str(len(findings.untried)),
            "time": _seconds(findings.seconds),
        },
    )
    properties = SubElement(suite, "properties")
    SubElement(properties, "property", name="summary", value=legal_text(findings.summary))
    at_times = [
        f"at times ({each.times} of {each.tries}): {each.token}: {each.why}\n{_text(each)}"
        for each in findings.at_times
    ]
    certain = {each.token for each in findings.failures}
    for token, outcome in outcomes:
        suite.append(_case(findings, token, outcome, failed=token in certain))
    SubElement(suite, "system-out").text = legal_text("\n".join((*findings.notes, *at_times)))
    SubElement(suite, "system-err")
    return suite


def _case(
    findings: Findings, token: str, outcome: FailingRun | Untried | None, *, failed: bool
) -> Element:
    name = {"name": legal_text(token), "classname": legal_text(findings.title)}
    # Runs are made beside each other: how long one took says little, and is not kept.
    case = Element("testcase", {**name, "time": _seconds(0.0)})
    match outcome:
        case Untried():
            SubElement(case, "skipped", message=legal_text(outcome.why))
        case FailingRun() if failed:
            kind = "+".join(outcome.modes) or "undisturbed"
            about = {"message": legal_text(outcome.why), "type": kind}
            SubElement(case, "failure", about).text = legal_text(_text(outcome))
    return case


def _text(finding: FailingRun) -> str:
    repeat = (f"repeat: {finding.repeat}",) if finding.repeat else ()
    return "\n".join((*finding.story, *repeat))


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
