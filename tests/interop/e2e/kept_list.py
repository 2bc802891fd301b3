"""Kubernetes' conformance tests by sig: those that have to pass, and why the others do not run.

`conformance.yaml` names each of them exactly once. A reason is `group: words`; the table of
docs/embedded-server.md counts by groups.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

_HEAD = (
    "# Every conformance test of the release, by its sig. tests/interop/test_e2e.py runs those",
    "# that are passing, and they have to; the others are not run, for the reason above them.",
)
FILE = Path(__file__).with_name("conformance.yaml")


class SigTests(msgspec.Struct, forbid_unknown_fields=True):
    """The tests of one sig."""

    passing: list[str] = []
    excluded: dict[str, list[str]] = {}
    """Names by reasons."""

    @property
    def names(self) -> Iterator[str]:
        """All of them."""
        yield from self.passing
        for names in self.excluded.values():
            yield from names

    def reasons(self) -> Iterator[tuple[str, str]]:
        """Every excluded test with its reason."""
        for reason, names in self.excluded.items():
            for name in names:
                yield name, reason


KeptList = dict[str, SigTests]


def read(file: Path = FILE) -> KeptList:
    """The list, by sig."""
    return msgspec.yaml.decode(file.read_bytes(), type=KeptList)


def write(kept: KeptList, file: Path = FILE) -> None:
    """Write the list in order, so that a change of it shows as what it is."""
    file.write_text("\n".join((*_HEAD, *_lines(kept))) + "\n")


def _lines(kept: KeptList) -> Iterator[str]:
    for sig, tests in sorted(kept.items()):
        yield f"{sig}:"
        yield f"  passing:{'' if tests.passing else ' []'}"
        yield from (f"  - {json.dumps(name)}" for name in sorted(tests.passing))
        yield f"  excluded:{'' if tests.excluded else ' {}'}"
        for reason, names in sorted(tests.excluded.items()):
            yield f"    {json.dumps(reason)}:"
            yield from (f"    - {json.dumps(name)}" for name in sorted(names))


def sig_of(name: str) -> str:
    """The sig in a test's name, such as apps of `[sig-apps] …`."""
    return name.removeprefix("[sig-").partition("]")[0]


def marked(kept: KeptList, results: Iterable[tuple[str, str]]) -> KeptList:
    """Return the list with other results: a reason for each test, none for one that passes."""
    names = {name: reason for sig in kept.values() for name, reason in sig.reasons()}
    names |= {name: "" for sig in kept.values() for name in sig.passing}
    names |= dict(results)
    changed: KeptList = {}
    for name, reason in names.items():
        tests = changed.setdefault(sig_of(name), SigTests([], {}))
        (tests.excluded.setdefault(reason, []) if reason else tests.passing).append(name)
    return changed
