"""What is wrong with a scenario is known with file and line, before any process starts."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.scenario_file import (
    ScenarioFile,
    load_scenario_file,
    scenario_schema,
)

SAMPLE = """
apiVersion: demo.dev/v1
kind: Widget
metadata: {name: a}
spec: {size: 1}
"""
WHOLE = """\
crds: []
prepare: [sample.yaml]
steps:
  - apply: sample.yaml
  - patch: {kind: Widget, name: a, merge: {spec: {size: 2}}}
  - scale: {kind: Widget, name: a, replicas: 3}
  - wait: 30
  - apply: {apiVersion: demo.dev/v1, kind: Widget, metadata: {name: b}}
  - delete: {kind: Widget, name: b}
exec: ok
ignore:
  - {field: status.seen, reason: it is a time, kind: widgets.demo.dev}
calm: 90
bound: 600
"""


def written(folder: Path, text: str) -> Path:
    (folder / "sample.yaml").write_text(SAMPLE)
    path = folder / "scenario.yaml"
    path.write_text(text)
    return path


def test_a_scenario_holds_everything_that_its_files_do(tmp_path: Path) -> None:
    scenario = load_scenario_file(written(tmp_path, WHOLE))
    actions = [step.action for step in scenario.steps]
    assert actions == ["apply", "patch", "scale", "wait", "apply", "delete"]
    assert [each["metadata"]["name"] for each in scenario.manifests[0]] == ["a"]
    assert [each["metadata"]["name"] for each in scenario.manifests[4]] == ["b"]
    assert (scenario.exec, scenario.calm, scenario.bound) == ("ok", 90, 600)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("steps: [{apply: sample.yaml}]\nsetps: 1\n", 2, "unknown field `setps`"),
        ("steps:\n  - apply: sample.yaml\n  - patch: {kind: Widget}\n", 3, "missing required"),
        ("steps:\n  - apply: sample.yaml\n    wait: 3\n", 2, "a step is one of apply"),
        ("steps:\n  - apply: absent.yaml\n", 2, "there is no file"),
        (
            "steps:\n  - apply: sample.yaml\n  - delete: {kind: Widget, name: b}\n",
            3,
            "no step before has applied Widget default/b",
        ),
        ("steps:\n  - wait: -1\n", 2, "Expected `float` > 0"),
        ("crds:\n  - absent\nsteps: [{wait: 1}]\n", 2, "there is no"),
        ("steps: [{apply: {kind: Widget}}]\n", 1, "a manifest has apiVersion"),
        ("steps:\n  - apply: [\n", 2, ""),
        ("steps: []\n", 1, "length >= 1"),
        ("exec: maybe\nsteps: [{wait: 1}]\n", 1, "Invalid enum value"),
        ("[1, 2]\n", 1, "Expected `object`"),
    ],
)
def test_what_is_wrong_has_a_file_and_a_line(
    tmp_path: Path, text: str, line: int, why: str
) -> None:
    with pytest.raises(ConfigError) as error:
        load_scenario_file(written(tmp_path, text))
    assert f"scenario.yaml, line {line}" in error.value.what
    assert why in error.value.because


def test_a_manifest_that_is_none_is_named_by_its_own_file(tmp_path: Path) -> None:
    path = written(tmp_path, "steps: [{apply: sample.yaml}]\n")
    (tmp_path / "sample.yaml").write_text("- 1\n")
    with pytest.raises(ConfigError, match=r"sample\.yaml"):
        load_scenario_file(path)


def test_the_schema_names_every_field() -> None:
    fields = scenario_schema()["$defs"]["ScenarioFile"]["properties"]
    assert set(fields) == {each.encode_name for each in msgspec.structs.fields(ScenarioFile)}
