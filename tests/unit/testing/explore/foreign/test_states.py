"""Two worlds of programs in real time are compared without what is chance."""

from __future__ import annotations

from typing import Any

from quintant.testing.explore.foreign.generated_names import GeneratedNames
from quintant.testing.explore.foreign.scenario_file import IgnoredField
from quintant.testing.explore.foreign.states import (
    comparable,
    masked,
    plain_document,
    self_differences,
)


def pods(*texts: tuple[str, str]) -> dict[str, Any]:
    return {f"pods default/{name}": {"spec": {"text": text}} for name, text in texts}


def test_generated_names_are_numbered_by_what_is_in_the_objects() -> None:
    left = comparable(pods(("r-<1>", "x"), ("r-<2>", "y")), GeneratedNames())
    right = comparable(pods(("r-<1>", "y"), ("r-<2>", "x")), GeneratedNames())
    assert left == right
    assert left != comparable(pods(("r-<1>", "x"), ("r-<2>", "x")), GeneratedNames())


def test_a_reference_to_a_generated_name_follows_it() -> None:
    def world(first: str, second: str) -> dict[str, Any]:
        chosen = {"widgets default/a": {"status": {"pod": f"r-<{first}>"}}}
        return {**pods((f"r-<{first}>", "x"), (f"r-<{second}>", "y")), **chosen}

    names = GeneratedNames()
    assert comparable(world("1", "2"), names) == comparable(world("2", "1"), names)


def test_what_undisturbed_runs_do_not_agree_on_is_named_and_left_out() -> None:
    runs = [[pods(("a", str(number)), ("b", "same"))] for number in range(3)]
    (difference,) = self_differences(runs)
    assert difference.path == ("pods default/a", "spec", "text")
    assert difference.values == ('"0"', '"1"', '"2"')
    left, right = (masked(states[0], [difference.path]) for states in runs[:2])
    assert left == right
    assert left["pods default/b"] == {"spec": {"text": "same"}}


def test_an_object_that_not_every_run_has_is_left_out_whole() -> None:
    runs = [[pods(("a", "x"))], [pods(("a", "x"), ("late", "y"))], [pods(("a", "x"))]]
    assert [each.path for each in self_differences(runs)] == [("pods default/late",)]


def test_ignored_fields_are_those_of_their_kind() -> None:
    ignored = [IgnoredField("spec.text", "it is a time", "pods")]
    assert comparable(pods(("a", "x")), GeneratedNames(), ignored) == {
        "pods default/a": {"spec": {}}
    }
    other = [IgnoredField("*", "not ours", "services")]
    assert comparable(pods(("a", "x")), GeneratedNames(), other) == pods(("a", "x"))


def test_what_a_pod_gets_by_chance_is_left_out() -> None:
    pod = {"kind": "Pod", "spec": {"nodeName": "n"}, "status": {"podIP": "x", "phase": "Running"}}
    assert plain_document(pod) == {"kind": "Pod", "spec": {}, "status": {"phase": "Running"}}
