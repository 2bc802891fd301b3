"""What the command line says before anything is started, and of what came to nothing."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from click.testing import CliRunner, Result

from quintant.cli import main
from quintant.cli.testing.explore_flags import ExploreFlags
from quintant.cli.testing.explore_program import repeat


def explore(*words: str) -> Result:
    return CliRunner().invoke(main, ["explore", *words])


def test_the_schema_of_scenarios_is_printed() -> None:
    done = explore("--schema")
    assert done.exit_code == 0
    assert "ScenarioFile" in json.loads(done.output)["$defs"]


def test_there_has_to_be_something_to_explore() -> None:
    assert "Missing argument" in explore().output
    assert explore().exit_code == 2


def test_a_program_needs_a_scenario_or_a_sample() -> None:
    done = explore("--command", "sh", "--pace", "1")
    assert done.exit_code == 1
    assert "neither a scenario nor a sample is given" in done.output


def test_a_scenario_has_its_definitions_itself(tmp_path: Path) -> None:
    sample = tmp_path / "sample.yaml"
    sample.write_text("")
    done = explore("--command", "sh", "--pace", "1", "--sample", str(sample), "scenario.yaml")
    assert done.exit_code == 1
    assert "for exploring without one" in done.output


def test_a_program_has_one_scenario_and_no_seeds() -> None:
    for words in (("a.yaml", "b.yaml"), ("a.yaml", "--seeds", "3")):
        done = explore("--command", "sh", *words)
        assert done.exit_code == 1
        assert "it has one scenario" in done.output


def test_a_report_that_could_not_be_written_is_known_before_anything_is_started(
    tmp_path: Path,
) -> None:
    file = str(tmp_path / "absent" / "report.xml")
    for words in (("--command", "sh", "--pace", "1"), ("scenario.py",)):
        done = explore(*words, "--junit", file)
        assert done.exit_code == 1
        assert f"cannot write {file}" in done.output
        assert "try: mkdir -p" in done.output


def test_a_replay_writes_no_report(tmp_path: Path) -> None:
    done = explore("scenario.py", "--replay", "lost@w0", "--html", str(tmp_path / "a.html"))
    assert done.exit_code == 1
    assert "a replay is one run" in done.output


def test_an_exploration_without_any_run_is_no_success() -> None:
    scenario = Path(__file__).parents[3] / "explore" / "greeter.py"
    target = f"{scenario}:GreeterLife"
    done = explore(target, "--mode", "member-crash", "--jobs", "1")
    assert "all: 0 of 0 runs" in done.output
    assert (done.exit_code, "no run was made" in done.output) == (2, True)
    assert explore(target, "--mode", "409", "--jobs", "1").exit_code == 0


def test_the_command_that_repeats_a_run_says_the_same_to_a_shell() -> None:
    program = "sh -c 'echo \"$HOME\"'"
    flags = ExploreFlags(crds=(Path("a b"),), sample=Path("c.yaml"), pace=5.0)
    assert shlex.split(repeat(program, flags, "lost@create:pods:default/a-<1>#1")) == [
        *("quintant", "explore", "--command", program, "--crds", "a b", "--sample", "c.yaml"),
        *("--pace", "5", "--replay", "lost@create:pods:default/a-<1>#1"),
    ]
