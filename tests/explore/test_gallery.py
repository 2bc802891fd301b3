"""The gallery: each classic mistake is caught by the mode that it names, and its twin passes.

A module of tests/explore/gallery has the mistake as `Mistake`, its mended twin as `Mended`, and the
mode in `CAUGHT_BY`; "undisturbed" is what is wrong without any fault.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from quintant.testing import explore_scenario

FOLDER = Path(__file__).parent / "gallery"
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
    assert module.CAUGHT_BY in {mode_of(each.token) for each in failures}
    explore_scenario(module.Mended).check()


def test_the_gallery_has_a_module_for_every_mistake_that_fits_on_a_page() -> None:
    files = {path.stem: path for path in FOLDER.glob("*.py")}
    assert files.keys() == MISTAKES
    for path in files.values():
        assert len(path.read_text().splitlines()) <= MOST_LINES, path
