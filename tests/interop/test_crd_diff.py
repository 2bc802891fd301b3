"""`quintant crd diff` beside OLM's crdify, over the definitions of projects in two releases.

Both say the same of every definition, rule by rule, where both have the rule. What differs is
explained, here and in docs/crd-diff.md: crdify judges what is below a field that is gone, takes
whatever is wider for a change, and has no rule for most of what we have rules for.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from click.testing import CliRunner

from foreign.catalogue import CRDIFY
from foreign.crd_bundles import BUNDLES, Bundle, bundle_definitions
from foreign.errors import ProgramError
from interop.conftest import Aloud
from quintant.cli import main

CONFIG = """
conversion: None
unhandledEnforcement: None
validations:
- {name: description, enforcement: None}
- {name: enum, enforcement: Error, configuration: {additionPolicy: Allow}}
- {name: nullable, enforcement: Error, configuration: {additionPolicy: Allow}}
- {name: pattern, enforcement: Error, configuration: {removalPolicy: Allow}}
"""
"""Texts are no changes, and what is wider is allowed where it can be told so."""
SHARED = frozenset((
    "default", "enum", "existingFieldRemoval", "maxItems", "maxLength", "maxProperties", "maximum",
    "minItems", "minLength", "minProperties", "minimum", "nullable", "pattern", "required", "scope",
    "storedVersionRemoval", "type",
))  # fmt: skip
"""The rules that both have."""
Definition = Mapping[str, Any]


class Finding(NamedTuple):
    """What crdify says against a field of a version."""

    version: str
    field: str
    rule: str


@pytest.fixture(scope="module")
def crdify() -> Path:
    """The program; skipped aloud without Go or its modules."""
    try:
        return CRDIFY.provide(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))


@pytest.fixture
def releases(
    request: pytest.FixtureRequest, aloud: Aloud
) -> tuple[dict[str, Definition], dict[str, Definition]]:
    """The definitions of a project that are in both of two releases, by name."""
    bundle: Bundle = request.param
    try:
        with aloud():
            old, new = [
                {each["metadata"]["name"]: each for each in bundle_definitions(one)}
                for one in (bundle.before(), bundle)
            ]
    except ProgramError as error:
        pytest.skip(str(error))
    both = sorted(old.keys() & new.keys())
    return {name: old[name] for name in both}, {name: new[name] for name in both}


def written(folder: Path, name: str, *definitions: Definition) -> Path:
    file = folder / f"{name}.yaml"
    file.write_bytes(b"\n---\n".join(msgspec.json.encode(each) for each in definitions))
    return file


def our_rules(
    folder: Path, old: Mapping[str, Definition], new: Mapping[str, Definition]
) -> dict[str, set[str]]:
    """The shared rules that each definition breaks within a version, as we say."""
    files = [written(folder, side, *each.values()) for side, each in (("o", old), ("n", new))]
    result = CliRunner().invoke(main, ["crd", "diff", *map(str, files), "-o", "json"])
    assert result.exit_code in (0, 1), result.output
    return {
        name: {
            change["rule"]
            for change in changes
            if change["impact"] != "safe" and change["rule"] in SHARED and "→" not in change["path"]
        }
        for name, changes in msgspec.json.decode(result.stdout)["definitions"].items()
    }


def findings(crdify: Path, folder: Path, old: Definition, new: Definition) -> Iterator[Finding]:
    """What crdify says against a definition."""
    config = folder / "config.yaml"
    config.write_text(CONFIG)
    files = [f"file://{written(folder, side, each)}" for side, each in (("a", old), ("b", new))]
    command = [str(crdify), *files, "--output=json", f"--config={config}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    found = msgspec.json.decode(done.stdout or "{}")
    for each in found.get("crdValidation") or ():
        for error in each.get("errors") or ():
            version, _, field = error.rpartition(" : ")[2].partition(".")
            yield Finding(version, field, each["name"])
    for version in found.get("sameVersionValidation") or ():
        for each in version["propertyComparisons"]:
            for result in each["comparisonResults"]:
                if result.get("errors"):
                    yield Finding(version["version"], each["property"], result["name"])


def schema_at(definition: Definition, version: str, field: str) -> Definition | None:
    """The schema of a field, as crdify calls it: `^.spec.ports.items.name`; None if it is gone."""
    (served,) = [each for each in definition["spec"]["versions"] if each["name"] == version]
    schema: Definition = served["schema"]["openAPIV3Schema"]
    steps = field.split(".")[1:]
    while steps:
        below = schema.get("properties") or {}
        # The name of a field may have dots.
        names = (".".join(steps[:count]) for count in range(len(steps), 0, -1))
        name = next((each for each in names if each in below), None)
        if name is not None:
            schema, steps = below[name], steps[name.count(".") + 1 :]
        elif isinstance(inner := schema.get(steps[0]), dict):
            schema, steps = inner, steps[1:]
        else:
            return None
    return schema


def explained(finding: Finding, old: Definition, new: Definition) -> bool:
    """Whether it is one of the differences that docs/crd-diff.md names."""
    if finding.rule in ("scope", "storedVersionRemoval"):
        return False
    before = schema_at(old, finding.version, finding.field)
    after = schema_at(new, finding.version, finding.field)
    if finding.rule == "existingFieldRemoval":
        return keeps_unknown(new, finding)
    if after is None or before is None:
        return True  # it is below a field that is gone, which both report
    match finding.rule:
        case "type":
            return not after.get("type")
        case "enum":
            return not after.get("enum")
        case "required":
            added = set(after["required"]) - set(before.get("required") or ())
            return all("default" in after["properties"].get(each, {}) for each in added)
    return finding.rule not in SHARED


def keeps_unknown(new: Definition, finding: Finding) -> bool:
    """Whether what has no schema is kept, where a field was."""
    parts = finding.field.split(".")
    while (schema := schema_at(new, finding.version, ".".join(parts))) is None:
        parts.pop()
    kept = schema.get("x-kubernetes-preserve-unknown-fields") or schema.get("additionalProperties")
    return bool(kept)


@pytest.mark.parametrize(
    "releases",
    [bundle for bundle in BUNDLES if bundle.earlier],
    indirect=True,
    ids=lambda bundle: bundle.module.split("/", 1)[-1],
)
def test_every_definition_is_judged_as_crdify_does(
    crdify: Path,
    releases: tuple[dict[str, Definition], dict[str, Definition]],
    tmp_path: Path,
) -> None:
    old, new = releases
    assert old
    ours = our_rules(tmp_path, old, new)
    differences = {}
    for name in old:
        said = [*findings(crdify, tmp_path, old[name], new[name])]
        left = {each.rule for each in said if not explained(each, old[name], new[name])}
        if left != ours[name]:
            differences[name] = (sorted(left - ours[name]), sorted(ours[name] - left), said[:20])
    assert differences == {}
