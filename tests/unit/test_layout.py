"""The tests of a module stand where the module stands, and no room holds too many modules.

`tests/unit/<room>/test_<module>.py` is about `src/quintant/<room>/<module>.py`, or about the room
itself if it has its name. What holds for several modules at once is a promise, named below.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests_of import find_tests

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "tests/unit"
PRODUCT = ROOT / "src/quintant"
ELSEWHERE = {
    "benchmarks": ROOT / "benchmarks",
    "scripts": ROOT / "scripts",
    "conformance": ROOT / "tests/conformance",
    "interop": ROOT / "tests/interop",
    "real": ROOT / "tests/real",
    "testbeds": ROOT / "tests/testbeds",
}
"""Rooms of tests whose subject is no part of the product."""
MOST_MODULES = 25
PROMISES = {
    "test_docs.py": "documents name what there is, and their examples run",
    "test_imports.py": "what a command loads",
    "test_layout.py": "this",
    "test_makefile.py": "what a task says when it has nothing to run",
    "test_public.py": "what users import",
    "test_real_time.py": "no test depends on the machine's speed",
    "test_references.py": "what documents name",
    "test_sizing.py": "a page of figures follows what was measured",
    "test_words.py": "names",
    "operators/test_descriptions.py": "every field of every kind is explained",
    "agents/lightpeer/test_mixed_networks.py": "peers beside those of another make",
    "api/test_every_kind.py": "what every built-in kind has",
    "cli/test_no_grpc_before_fork.py": "what is loaded where programs are started",
    "cluster/test_identifiers.py": "modules begin with the names that Kubernetes has for them",
    "cluster/test_programs_meet_in_the_api.py": "programs of a cluster do not import each other",
    "cluster/apiserver/test_any_field_value.py": "every request is answered",
    "cluster/apiserver/test_costly_requests.py": "large requests beside small ones",
    "cluster/apiserver/test_recorded_refusals.py": "the words of a real server",
    "cluster/apiserver/test_stored_kinds.py": "kinds that others act on",
    "cluster/controllers/deployment/test_whole_templates.py": "templates reach pods",
    "operators/test_kstatus.py": "GitOps tools can judge every kind",
    "operators/test_quantities.py": "an amount of any kind may be a number",
    "operators/test_shape.py": "every operator has the same files",
    "operators/cosmos/test_differences.py": "the table of differences is true",
    "operators/cosmos/test_readme.py": "the contract table is true",
    "operators/infra/test_readme.py": "the contract table is true",
    "operators/klight/test_readme.py": "the contract table is true",
    "operators/shifu/test_readme.py": "the contract table is true",
    "operators/portal/test_readme.py": "the contract table is true",
}
"""Tests that are about several modules, and what they promise."""


def subjects(test: Path) -> list[Path]:
    """Where the module that a test module is about may be."""
    room, name = test.parent, test.stem.removeprefix("test_")
    first, *rest = room.parts or ("",)
    home = ELSEWHERE[first].joinpath(*rest) if first in ELSEWHERE else PRODUCT / room
    own = [home / "__init__.py"] if name == room.name else []
    return [home / f"{name}.py", home / name / "__init__.py", *own]


TESTS = sorted(path.relative_to(UNIT) for path in UNIT.rglob("test_*.py"))


def test_a_test_module_stands_where_its_subject_does() -> None:
    lost = [test for test in TESTS if not any(path.is_file() for path in subjects(test))]
    assert {test.as_posix() for test in lost} == PROMISES.keys()


def test_tests_of_a_subject_are_found_from_it() -> None:
    """`make tests-of` knows the same homes."""
    for test in TESTS:
        for subject in filter(Path.is_file, subjects(test)):
            assert Path("tests/unit") / test in find_tests(ROOT, str(subject))


def test_only_tests_of_the_benchmarks_import_them() -> None:
    """What both need has a home of its own below `scripts/`."""
    tests = [path for path in UNIT.parent.rglob("*.py") if UNIT / "benchmarks" not in path.parents]
    used = re.compile(r"^\s*(from|import) benchmarks\b", re.MULTILINE)
    assert tests
    assert [path.name for path in tests if used.search(path.read_text())] == []


def test_no_room_holds_too_many_modules() -> None:
    count = Counter(path.parent.relative_to(PRODUCT).as_posix() for path in PRODUCT.rglob("*.py"))
    assert count["."] > 0
    assert {room: size for room, size in count.items() if size > MOST_MODULES} == {}


def rooms(folder: Path) -> set[str]:
    """The folders in a folder that hold modules, themselves or below."""
    below = (path for path in folder.iterdir() if path.is_dir())
    return {path.name for path in below if any(path.rglob("*.py"))}


def test_every_room_is_in_the_architecture() -> None:
    house, *_, layers = (ROOT / "ARCHITECTURE.md").read_text().split("```")[1:4]
    for folder in (PRODUCT, PRODUCT / "runtime", PRODUCT / "cluster"):
        assert {room for room in rooms(folder) if f" {room}/ " not in house} == set()
    apiserver = set(re.findall(r"\w+", layers.partition("apiserver  ")[2]))
    assert apiserver == rooms(PRODUCT / "cluster/apiserver")


def test_every_folder_of_tests_is_in_contributing_once() -> None:
    rows = re.findall(
        r"^\| `tests/(\w+)/` \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE
    )
    assert sorted(rows) == sorted(rooms(UNIT.parent))
