"""SARIF 2.1.0: a rule for every mode, a result for every failing run; what code scanning shows.

A result points at the file of the scenario, and its code flow tells the story of the run. What
failed at times is a note.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

import msgspec

from quintant.testing.explore.injection.fault import EXPLANATIONS
from quintant.testing.explore.report.findings import UNDISTURBED, FailingRun, Findings
from quintant.version import QUINTANT

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
"""The name of the format; nothing is fetched from there."""
FINGERPRINT = "explorationPoint/v1"
"""By which a result of today is known as one of yesterday: the token of its run."""

Document = dict[str, Any]


def sarif_report(explored: Sequence[Findings]) -> bytes:
    """The document."""
    results = [
        _result(findings, finding, level)
        for findings in explored
        for level, found in (("error", findings.failures), ("note", findings.at_times))
        for finding in found
    ]
    run = {
        "tool": {"driver": {"name": "quintant explore", "version": QUINTANT, "rules": _rules()}},
        "results": results,
        "columnKind": "unicodeCodePoints",
        "properties": {"summaries": [each.summary for each in explored]},
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


_TEXTS = {UNDISTURBED: "it fails without any fault"} | {str(k): v for k, v in EXPLANATIONS.items()}
_NUMBERS = {rule: number for number, rule in enumerate(_TEXTS)}


def _rules() -> list[Document]:
    return [{"id": rule, "shortDescription": {"text": text}} for rule, text in _TEXTS.items()]


def _result(findings: Findings, finding: FailingRun, level: str) -> Document:
    rule = finding.modes[0] if finding.modes else UNDISTURBED
    about: Document = {"title": findings.title, "token": finding.token}
    if finding.repeat:
        about["repeat"] = finding.repeat
    return {
        "ruleId": rule,
        "ruleIndex": _NUMBERS[rule],
        "level": level,
        "message": {"text": f"{findings.title} {finding.token}: {finding.why}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(findings.file)},
                    "region": {"startLine": 1},
                }
            }
        ],
        "partialFingerprints": {FINGERPRINT: f"{findings.title} {finding.token}"},
        "codeFlows": [{"threadFlows": [{"locations": _flow(finding)}]}],
        "properties": about | {"times": finding.times, "tries": finding.tries},
    }


def _flow(finding: FailingRun) -> list[Document]:
    lines = [line.strip() for line in finding.story] or [finding.why]
    return [{"location": {"message": {"text": line}}} for line in lines if line]


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))
