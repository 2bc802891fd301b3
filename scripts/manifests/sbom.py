"""The CycloneDX document that the wheel carries (PEP 770): what it is, and what it asks for.

A wheel holds no other package, so its parts are requirements: with their ranges, as a resolver will
read them. What an image holds, version by version, is in the image's own document.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from image.sbom import bill_of_materials
from manifests.files import ROOT
from quintant.version import QUINTANT

FILE = ROOT / "src/quintant.cdx.json"
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*([^;]*?)\s*(?:;\s*(.*))?")
_OURS = "quintant"
_DEVELOPMENT = ("dev", "console-tests", "all")
"""Extras that no user of the wheel installs, and the one that is all others."""

Component = dict[str, Any]


def sbom_files() -> dict[Path, str]:
    """The document's file, and its text."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {FILE: json.dumps(document(project), indent=1, ensure_ascii=False) + "\n"}


def document(project: dict[str, Any]) -> Component:
    """The wheel and its requirements; the same for the same project."""
    product = _product(project)
    parts = {each["bom-ref"]: each for each in _requirements(project)}
    listed = [product["bom-ref"], *(json.dumps(each) for each in parts.values())]
    dependencies = [{"ref": product["bom-ref"], "dependsOn": list(parts)}]
    bill = bill_of_materials(product, list(parts.values()), listed)
    return {**bill, "dependencies": dependencies}


def _product(project: dict[str, Any]) -> Component:
    purl = f"pkg:pypi/{_OURS}@{QUINTANT}"
    named = {"type": "library", "bom-ref": purl, "name": _OURS, "version": QUINTANT, "purl": purl}
    return {**named, "licenses": [{"expression": project["license"]}]}


def _requirements(project: dict[str, Any]) -> Iterator[Component]:
    for text in project["dependencies"]:
        yield _component(text, "required")
    for extra, texts in sorted(project["optional-dependencies"].items()):
        for text in texts if extra not in _DEVELOPMENT else ():
            yield _component(text, "optional", extra)


def _component(text: str, scope: str, extra: str = "") -> Component:
    found = _REQUIREMENT.fullmatch(text)
    assert found is not None, f"{text!r} is no requirement"
    name = re.sub(r"[-_.]+", "-", found[1]).lower()
    said = {"range": found[2], "marker": found[3] or "", "extra": extra}
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}",
        "name": name,
        "purl": f"pkg:pypi/{name}",
        "scope": scope,
        "properties": [
            {"name": f"quintant:{key}", "value": value} for key, value in said.items() if value
        ],
    }
