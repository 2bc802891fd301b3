"""Two worlds of programs in real time are compared without what is chance."""

from __future__ import annotations

from typing import Any

import msgspec

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


def sets_with_pods(*sets: tuple[str, str, int]) -> dict[str, Any]:
    """ReplicaSets by their number, what is in them, and how many pods each has."""
    world: dict[str, Any] = {}
    for number, text, count in sets:
        world[f"replicasets.apps default/w-<{number}>"] = {"spec": {"text": text}}
        for pod in range(1, count + 1):
            owner = {"metadata": {"ownerReferences": [{"name": f"w-<{number}>"}]}}
            world[f"pods default/w-<{number}>-<{pod}>"] = owner
    return world


def test_pods_of_generated_sets_are_told_apart_and_follow_their_set() -> None:
    left = comparable(sets_with_pods(("1", "x", 2), ("2", "x", 1)), GeneratedNames())
    right = comparable(sets_with_pods(("1", "x", 1), ("2", "x", 2)), GeneratedNames())
    assert left == right
    assert len([title for title in left if title.startswith("pods")]) == 3
    lost = comparable(sets_with_pods(("1", "x", 1), ("2", "x", 1)), GeneratedNames())
    assert left != lost


def test_a_name_that_no_object_has_is_gone() -> None:
    world = {"widgets default/a": {"status": {"pod": "r-<7>"}}}
    assert comparable(world, GeneratedNames()) == {
        "widgets default/a": {"status": {"pod": "r-<gone>"}}
    }


def test_digests_of_templates_and_volumes_for_tokens_are_left_out() -> None:
    zone = {"topology.kubernetes.io/zone": "zone-a"}
    labels = {"labels": {"pod-template-hash": "5d4f", "app": "a", **zone}}
    volumes = [{"name": "kube-api-access-x7k2p"}]
    pod = {"kind": "Pod", "metadata": labels, "spec": {"volumes": volumes}}
    assert plain_document(pod) == {
        "kind": "Pod",
        "metadata": {"labels": {"app": "a"}},
        "spec": {"volumes": [{"name": "kube-api-access"}]},
    }


def test_what_differs_in_a_secret_is_named_and_never_shown() -> None:
    title = "secrets default/user"
    worlds: list[list[dict[str, Any]]] = [
        [{title: {"data": {"password": value}}}] for value in ("aHVudGVyMg==", "c3dvcmRmaXNo")
    ]
    (found,) = self_differences(worlds)
    assert str(found) == "secrets default/user.data.password: another one each time"


def test_who_holds_a_lock_that_is_an_annotation_does_not_count() -> None:
    def lock(holder: str) -> dict[str, Any]:
        held = {"control-plane.alpha.kubernetes.io/leader": holder}
        return {"kind": "ConfigMap", "metadata": {"name": "lock", "annotations": held}}

    assert plain_document(lock("a")) == plain_document(lock("b"))


def test_ports_of_a_service_are_the_same_in_any_order() -> None:
    def service(*ports: int) -> dict[str, Any]:
        spec = {"clusterIP": f"10.96.0.{ports[0]}", "ports": [{"port": each} for each in ports]}
        copy = msgspec.json.encode({"spec": spec}).decode()
        return {"kind": "Service", "metadata": {"annotations": {HANDLED: copy}}, "spec": spec}

    assert plain_document(service(80, 90)) == plain_document(service(90, 80))
    assert plain_document(service(80, 90)) != plain_document(service(80, 91))


PHASE = ("pods default/a", "status", "phase")
HANDLED = "kopf.zalando.org/last-handled-configuration"


def handled(node: str, image: str = "a", status: str = '{"phase":"Running"}') -> dict[str, Any]:
    """A pod with what kopf has handled of it: an object as JSON."""
    text = f'{{"spec":{{"nodeName":"{node}","image":"{image}"}},"status":{status}}}'
    return {"kind": "Pod", "metadata": {"annotations": {HANDLED: text}}, "spec": {"nodeName": node}}


def test_the_copy_of_an_object_in_an_annotation_is_compared_like_the_object() -> None:
    assert plain_document(handled("sim-0001")) == plain_document(handled("sim-0002"))
    assert plain_document(handled("a")) != plain_document(handled("a", image="b"))
    assert plain_document(handled("a")) != plain_document(handled("a", status='{"phase":"Failed"}'))


def test_a_text_that_only_looks_like_a_copy_is_compared_as_it_is() -> None:
    for text in ("{", "{}", '{"a":1}', '{"spec":[1],"status":{"containerStatuses":[1]}}', "[{}]"):
        made = plain_document({"kind": "Pod", "metadata": {"annotations": {"note": text}}})
        assert made is not None
        other = plain_document({"kind": "Pod", "metadata": {"annotations": {"note": f"{text} "}}})
        assert (made == other) is ("spec" in text)


def test_what_is_left_out_of_an_object_is_left_out_of_its_copies() -> None:
    def world(phase: str) -> dict[str, Any]:
        made = plain_document(handled("a", status=f'{{"phase":"{phase}"}}'))
        assert made is not None
        return {"pods default/a": {**made, "status": {"phase": phase}}}

    left, right = (masked(world(each), [PHASE]) for each in ("Pending", "Running"))
    assert left == right
    ignored = [IgnoredField("status.phase", "a race", "pods")]
    left, right = (
        comparable(world(each), GeneratedNames(), ignored) for each in ("Pending", "Running")
    )
    assert left == right
