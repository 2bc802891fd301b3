"""Print the tests of a module, an operator or a room.

    python scripts/tests_of.py src/quintant/core/clock.py
    python scripts/tests_of.py src/quintant/operators/klight

Tests stand where their subject stands: `tests/unit/core/test_clock.py` is about `core/clock.py`. A
room has a folder of them, and perhaps a module of its name; an operator has some on a cluster.
The path may leave out `src/quintant`. Ends with 1, and the paths that were looked for, if none is
there. `make tests-of FILE=…` runs what this prints.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = Path("src/quintant")
UNIT = Path("tests/unit")
HOMES = {
    PRODUCT: UNIT,
    Path("benchmarks"): UNIT / "benchmarks",
    Path("scripts"): UNIT / "scripts",
    Path("tests/conformance"): UNIT / "conformance",
    Path("tests/interop"): UNIT / "interop",
    Path("tests/real"): UNIT / "real",
    Path("tests/testbeds"): UNIT / "testbeds",
}
"""Folders of sources, and where their tests are."""
OPERATORS = PRODUCT / "operators"


class NoTests(Exception):
    """There are no tests of a path; its text has three lines."""


def find_tests(root: Path, name: str) -> list[Path]:
    """The test modules and folders of a source, relative to the checkout."""
    source = _source(root, name)
    if source is None:
        raise NoTests(_error(name, "there is no such file or folder", "a path below src/quintant"))
    looked_for = list(dict.fromkeys(_candidates(root, source)))
    tests = [path for path in looked_for if _holds_tests(root / path)]
    if not tests:
        missing = " or ".join(map(str, looked_for)) or "a folder of tests"
        raise NoTests(_error(name, f"there is no {missing}", "write it, or name its folder"))
    return tests


def _source(root: Path, name: str) -> Path | None:
    """A file or folder of the checkout, as it is named from its root."""
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        return None
    inside = path.relative_to(root.resolve())
    return next((each for each in (inside, PRODUCT / inside) if (root / each).exists()), None)


def _candidates(root: Path, source: Path) -> Iterator[Path]:
    """Where the tests of a source may be."""
    if source.parts[:1] == ("tests",) and source not in HOMES:
        yield source
    for home, unit in HOMES.items():
        if source.is_relative_to(home):
            yield from _below(unit, source.relative_to(home), (root / source).is_dir())
    if source.parent == OPERATORS:
        yield Path("tests/operators") / source.name


def _below(unit: Path, inside: Path, is_folder: bool) -> Iterator[Path]:
    """The tests of a module or folder below the folder that mirrors its home."""
    if is_folder:
        yield unit / inside
        yield unit / inside.parent / f"test_{inside.name}.py"
    elif inside.name == "__init__.py":
        room = unit / inside.parent
        yield from (room / f"test_{room.name}.py", room.parent / f"test_{room.name}.py")
    else:
        yield unit / inside.with_name(f"test_{inside.name}")


def _holds_tests(path: Path) -> bool:
    return path.name.startswith("test_") if path.is_file() else any(path.rglob("test_*.py"))


def _error(name: str, because: str, hint: str) -> str:
    return f"cannot find tests of {name}\nbecause: {because}\ntry: {hint}"


def main() -> int:
    """Print the tests of the path that is given, on one line."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if not name:
        hint = "make tests-of FILE=src/quintant/core/clock.py"
        print(_error("a module", "no FILE was given", hint), file=sys.stderr)
        return 1
    try:
        print(*find_tests(ROOT, name))
    except NoTests as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
