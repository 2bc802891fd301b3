"""Names that differ from run to run are the same where runs are compared."""

from __future__ import annotations

from quintant.testing.explore.foreign.generated_names import (
    OF_TEMPLATES,
    GeneratedNames,
    NameStem,
    learn_stems,
    made_stem,
)
from quintant.testing.explore.simulation.objects import StoredMeta


def test_names_of_the_server_are_numbered_as_they_come() -> None:
    names = GeneratedNames()
    assert names.next_of("pods", "default", "r-") == "r-<1>"
    names.note("pods", "default", "r-x7k2p", "r-")
    names.note("pods", "default", "r-aaaaa", "r-")
    assert names.name("pods", "default", "r-x7k2p") == "r-<1>"
    assert names.name("pods", "default", "r-aaaaa") == "r-<2>"
    assert names.name("pods", "other", "r-x7k2p") == "r-x7k2p"


def test_chance_in_names_is_learnt_from_runs_that_do_not_agree() -> None:
    runs = [
        [("pods", "default", "c-worker-8f3a01"), ("pods", "default", "c-scheduler")],
        [("pods", "default", "c-worker-77b2c9"), ("pods", "default", "c-scheduler")],
        [("pods", "default", "c-worker-e01d4f"), ("pods", "default", "c-scheduler")],
    ]
    assert learn_stems(runs) == {NameStem("pods", "c-worker-", 6, 6)}
    names = GeneratedNames(learn_stems(runs))
    assert names.name("pods", "default", "c-worker-123456") == "c-worker-<1>"
    assert names.name("pods", "default", "c-scheduler") == "c-scheduler"
    assert names.name("services", "default", "c-worker-123456") == "c-worker-123456"


def test_names_that_begin_with_a_generated_one_are_numbered_below_it() -> None:
    names = GeneratedNames()
    for table, name, generate_name in (
        ("deployments.apps", "w-8f3a01", ""),
        ("replicasets.apps", "w-8f3a01-6f74c4f995", ""),
        ("pods", "w-8f3a01-6f74c4f995-x7k2p", "w-8f3a01-6f74c4f995-"),
    ):
        names.note(table, "default", name, generate_name)
    stems = {NameStem("deployments.apps", "w-", 6, 6), NameStem("replicasets.apps", "w-", 17, 17)}
    names.learn(frozenset(stems))
    assert names.name("deployments.apps", "default", "w-8f3a01") == "w-<1>"
    assert names.name("replicasets.apps", "default", "w-8f3a01-6f74c4f995") == "w-<1>-<1>"
    assert names.name("pods", "default", "w-8f3a01-6f74c4f995-x7k2p") == "w-<1>-<1>-<1>"
    assert names.next_of("pods", "default", "w-8f3a01-6f74c4f995-") == "w-<1>-<1>-<2>"


def test_a_name_that_one_run_lacks_is_no_chance() -> None:
    runs = [
        [("pods", "default", "a-1"), ("pods", "default", "b")],
        [("pods", "default", "a-2")],
        [("pods", "default", "a-1")],
    ]
    assert learn_stems(runs) == frozenset()


def deployed(worker: str, digest: str) -> GeneratedNames:
    """A Deployment whose name is chance, its ReplicaSet, and a pod."""
    names = GeneratedNames()
    labels = {OF_TEMPLATES: digest}
    for table, meta in (
        ("deployments.apps", StoredMeta(f"w-{worker}")),
        ("replicasets.apps", StoredMeta(f"w-{worker}-{digest}", labels=labels)),
        (
            "pods",
            StoredMeta(
                f"w-{worker}-{digest}-x7k2p", generate_name=f"w-{worker}-{digest}-", labels=labels
            ),
        ),
    ):
        names.note(table, "default", meta.name, made_stem(meta))
    return names


def test_the_digest_in_the_name_of_a_set_may_be_shorter_in_the_next_run() -> None:
    runs = [deployed("8f3a01", "6f74c4f995"), deployed("77b2c9", "5d8bc7d6f4")]
    stems = learn_stems([each.created for each in runs])
    shorter = deployed("e01d4f", "77c9b6d5")
    for names in (*runs, shorter):
        names.learn(stems)
    assert [*runs[0].numbers.values()] == ["w-<1>", "w-<1>-<1>", "w-<1>-<1>-<1>"]
    assert [*shorter.numbers.values()] == [*runs[0].numbers.values()]
