"""Stages from a file, and how long they last."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.cluster.simulated import stages
from quintant.cluster.simulated.defaults import DEFAULTS
from quintant.cluster.simulated.stages import Stage, Stages, StageSelector, load_stages
from quintant.cluster.simulated.views import SimPod
from quintant.core import codec
from quintant.core.clock import Random
from quintant.core.errors import ConfigError


def pod(**meta: object) -> SimPod:
    return codec.from_plain(SimPod, {"metadata": {"name": "p", **meta}})


def test_example_in_the_documentation_of_the_module_can_be_read(tmp_path: Path) -> None:
    assert stages.__doc__ is not None
    text = stages.__doc__.partition("    stages:\n")[2]
    (tmp_path / "stages.yaml").write_text(f"    stages:\n{text}")
    crash, again = load_stages(tmp_path / "stages.yaml")
    assert crash.match.labels == {"app": "flaky"}
    assert again.next is not None
    assert again.next.restart


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("stages: [{match: {}}]", "name"),
        ("stages: [{name: x, next: {state: flying}}]", "unknown state"),
        ("other: 1", "stages"),
    ],
)
def test_file_that_makes_no_sense_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "stages.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=why):
        load_stages(path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the stages"):
        load_stages(tmp_path / "absent.yaml")


def test_delay_grows_with_restarts_up_to_five_minutes() -> None:
    stage, random = Stage(name="s", delay=10, growth=2), Random(0)
    assert [stage.delay_seconds(restarts, random) for restarts in (0, 1, 2, 5, 5000)] == [
        10,
        20,
        40,
        300,
        300,
    ]


def test_jitter_is_added_at_random() -> None:
    stage, random = Stage(name="s", delay=1, jitter=2), Random(0)
    found = {stage.delay_seconds(0, random) for _ in range(20)}
    assert len(found) > 1
    assert all(1 <= each <= 3 for each in found)


def test_first_stage_that_matches_counts() -> None:
    found = Stages((Stage(name="mine", match=StageSelector(namespace="a")), *DEFAULTS))
    of_mine, of_others = found.stage_of(pod(namespace="a")), found.stage_of(pod(namespace="b"))
    assert of_mine is not None
    assert of_others is not None
    assert (of_mine.name, of_others.name) == ("mine", "start")


def test_unknown_fate_counts_as_none() -> None:
    notes = {"simulated.quintant.dev/fate": "nobody-knows"}
    found = Stages(DEFAULTS).stage_of(pod(annotations=notes))
    assert found is not None
    assert found.name == "start"


def test_fate_keeps_the_usual_stages_away() -> None:
    notes = {"simulated.quintant.dev/fate": "crash"}
    found = Stages(DEFAULTS).stage_of(pod(annotations=notes))
    assert found is not None
    assert found.name == "crash"


def test_stage_is_for_pods_with_an_image() -> None:
    missing, healthy = Stage(name="m", match=StageSelector(image="*:404")), Stage(name="h")
    tried = Stages((missing, healthy))
    images = {"web:404": missing, "web:1": healthy, "web:4040": healthy}
    for image, stage in images.items():
        containers = [{"name": "sidecar", "image": "other"}, {"name": "a", "image": image}]
        found = codec.from_plain(
            SimPod, {"metadata": {"name": "p"}, "spec": {"containers": containers}}
        )
        assert tried.stage_of(found) is stage
