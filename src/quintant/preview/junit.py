"""JUnit XML of a preview: a case for every object that would change, and one for what was found.

A case fails if `--fail-on` names what became of the object; a condition that must not come up and
findings that must not be are cases of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from datetime import UTC, datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from quintant.preview.report import WORDS, difference, summary, title
from quintant.preview.run import Preview
from quintant.wire.xml_text import legal_text

PACKAGE = "quintant.preview"
HOST = "localhost"
"""The name of a machine is nobody's business, and the schema wants one."""


def as_junit(preview: Preview, target: str, fail_on: Set[str], now: datetime) -> bytes:
    """The document; `now` is when the preview ended."""
    cases = [*_objects(preview, target, fail_on), *_others(preview, target, fail_on)]
    suite = Element(
        "testsuite",
        {
            "name": legal_text(target),
            "package": PACKAGE,
            "id": "0",
            "timestamp": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
            "hostname": HOST,
            "tests": str(len(cases)),
            "failures": str(sum(case.find("failure") is not None for case in cases)),
            "errors": "0",
            "time": "0.000",
        },
    )
    SubElement(suite, "properties")
    suite.extend(cases)
    SubElement(suite, "system-out").text = legal_text(summary(preview))
    SubElement(suite, "system-err")
    root = Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    made: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return made + b"\n"


def _objects(preview: Preview, target: str, fail_on: Set[str]) -> Iterator[Element]:
    for change in preview.changes:
        case = _case(target, f"{change.id.plural}: {title(change)}")
        if change.action.value in fail_on:
            about = {"message": WORDS[change.action], "type": change.action.value}
            text = "\n".join(difference(change))
            SubElement(case, "failure", about).text = legal_text(text)
        yield case


def _others(preview: Preview, target: str, fail_on: Set[str]) -> Iterator[Element]:
    """What is wanted of the whole: no condition that must not come up, and no findings."""
    for word in sorted(word for word in fail_on if "=" in word):
        case = _case(target, word)
        if word in preview.words:
            SubElement(case, "failure", {"message": "would come up", "type": "status"})
        yield case
    if preview.calls:
        yield _listed(target, "call", preview.calls, fail_on)
    found = [
        *(f"refused: {each.verb} {each.target}: {each.message}" for each in preview.refused),
        *preview.findings,
    ]
    yield _listed(target, "finding", found, fail_on)


def _listed(target: str, word: str, lines: Sequence[str], fail_on: Set[str]) -> Element:
    """A case of everything of a sort that is not about one object."""
    case = _case(target, f"{word}s")
    if lines and word in fail_on:
        about = {"message": f"{len(lines)} {word}s", "type": word}
        SubElement(case, "failure", about).text = legal_text("\n".join(lines))
    elif lines:
        SubElement(case, "system-out").text = legal_text("\n".join(lines))
    return case


def _case(target: str, name: str) -> Element:
    about = {"name": legal_text(name), "classname": legal_text(target), "time": "0.000"}
    return Element("testcase", about)
