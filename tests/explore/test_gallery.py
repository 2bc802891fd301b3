"""The gallery: each classic mistake is caught by the mode that it names, and its twin passes.

A module of tests/explore/gallery has the mistake as `Mistake`, its mended twin as `Mended`, and the
mode in `CAUGHT_BY`; "undisturbed" is what is wrong without any fault.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from quintant.testing import explore_scenario
from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.injection.fault import RunToken

FOLDER = Path(__file__).parent / "gallery"
PAGE = FOLDER.parents[2] / "docs" / "mistakes.md"
MOST_LINES = 100
MISTAKES = {
    "child_made_twice",
    "conflict_swallowed",
    "counter_in_memory",
    "delete_by_name",
    "finalizer_removed_first",
    "record_after_call",
    "requeue_storm",
    "resync_writes_always",
    "stale_read_deletes",
    "status_before_child",
}

gallery = pytest.mark.parametrize("name", sorted(MISTAKES))


def mistake(name: str) -> ModuleType:
    return import_module(f"explore.gallery.{name}")


def mode_of(token: str) -> str:
    return token.partition("~")[0].partition("@")[0]


@gallery
def test_a_classic_mistake_is_caught_by_its_mode_and_its_twin_passes(name: str) -> None:
    module = mistake(name)
    failures = explore_scenario(module.Mistake).failures
    caught = [each for each in failures if mode_of(each.token) == module.CAUGHT_BY]
    assert caught
    assert f"```text\n{caught[0].token}: {caught[0].why}\n```" in PAGE.read_text()
    explore_scenario(module.Mended).check()


@gallery
@pytest.mark.parametrize("which", ["Mistake", "Mended"])
def test_runs_that_are_the_same_by_construction_come_to_the_same(name: str, which: str) -> None:
    explorer = Explorer(getattr(mistake(name), which))
    alike = explorer.alike(explorer.plan())
    for first, others in alike.items():
        verdicts = [verdict(explorer, each) for each in (first, *others)] if others else []
        assert len({*verdicts}) <= 1, (first, others)


def verdict(explorer: Explorer, token: RunToken) -> str:
    failure = explorer.run(token)
    return "" if failure is None else failure.why


@gallery
def test_the_page_tells_it_with_the_code_that_runs(name: str) -> None:
    (told,) = (each for each in PAGE.read_text().split("\n## ") if f"gallery/{name}.py)" in each)
    code = unindented((FOLDER / f"{name}.py").read_text())
    shown = re.findall(r"```python fragment\n(.*?)```", told, re.DOTALL)
    assert shown
    for block in shown:
        assert unindented(block) in code


def unindented(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


def test_the_gallery_has_a_module_for_every_mistake_that_fits_on_a_page() -> None:
    files = {path.stem: path for path in FOLDER.glob("*.py")}
    assert files.keys() == MISTAKES
    for path in files.values():
        assert len(path.read_text().splitlines()) <= MOST_LINES, path
