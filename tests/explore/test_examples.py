"""Every example bears what exploration does to it: `make explore` tries them all."""

from __future__ import annotations

from pathlib import Path

from explore import examples
from quintant.testing import explore_scenario

ROOT = Path(__file__).parents[2]


def test_every_numbered_example_is_explored() -> None:
    files = [path for path in Path(__file__).parent.glob("*.py") if path.stem[:5] != "test_"]
    scenarios = "".join(path.read_text() for path in files)
    numbered = {path.stem for path in (ROOT / "examples").glob("[0-9]*.py")}
    assert {name for name in numbered if f'"{name}"' not in scenarios} == set()


def test_no_disturbance_leaks_a_record_of_the_example_of_finalizers() -> None:
    explore_scenario(examples.RecordLife).check()


def test_the_example_of_children_bears_every_disturbance() -> None:
    explore_scenario(examples.FleetLife).check()


def test_the_example_of_shards_bears_every_disturbance() -> None:
    explore_scenario(examples.OrderLife).check()


def test_the_example_of_several_clusters_bears_every_disturbance() -> None:
    explore_scenario(examples.BannersOfTwoClusters).check()
