"""Our definitions beside those of the last release: what breaks its users is written down here.

`quintant crd diff` says the same for a user; here it is part of `make lint`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from manifests.files import DEPLOY, ROOT
from quintant.cli.crd.sources import named_definitions
from quintant.core.crd_diff.change import Impact
from quintant.core.crd_diff.definition_changes import all_changes

LAST = ROOT / "tests/testbeds/installed_0_1_0"
"""What the last release installed: a file for each program that was in it."""
ACCEPTED: Mapping[str, frozenset[str]] = {
    # The server has to bound what a template may cost; nobody has 64 of either.
    "tunnelclasses.portal.gosuda.org": frozenset(
        {"v1alpha1.spec.nodeSelector maxProperties", "v1alpha1.spec.tolerations maxItems"}
    ),
}
"""Breaking changes that are meant; once a release has them they are taken out here."""


def breaking_changes() -> dict[str, frozenset[str]]:
    """What each definition breaks for users of the last release: field and rule."""
    return {name: found for pair in _pairs() for name, found in _broken(*pair)}


def check_released(accepted: Mapping[str, frozenset[str]] = ACCEPTED) -> int:
    """Say what breaks and is not accepted, and what is accepted and does not break; a code."""
    found, code = breaking_changes(), 0
    for name in sorted({*found, *accepted}):
        now, meant = found.get(name, frozenset()), accepted.get(name, frozenset())
        for what, words in ((now - meant, "breaks"), (meant - now, "does not break any more")):
            for change in sorted(what):
                print(f"{name}: {change} {words}", file=sys.stderr)
                code = 1
    if code:
        print(f"because: {LAST.name} was installed by users", file=sys.stderr)
        print(
            "try: keep the field, or write it down in scripts/manifests/released.py",
            file=sys.stderr,
        )
    return code


def _pairs() -> Iterator[tuple[Path, Path]]:
    for old in sorted(LAST.glob("*.yaml")):
        for new in (DEPLOY / old.stem / "crds/crds.yaml", DEPLOY / old.stem / "crds.yaml"):
            if new.exists():
                yield old, new


def _broken(old: Path, new: Path) -> Iterator[tuple[str, frozenset[str]]]:
    changes = all_changes(named_definitions(str(old)), named_definitions(str(new)))
    for name, each in changes.items():
        broken = {f"{one.path} {one.rule}" for one in each if one.impact is Impact.BREAKING}
        if broken:
            yield name, frozenset(broken)
