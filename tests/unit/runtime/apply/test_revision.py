"""Promises of quintant.runtime.apply.revision."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap
from quintant.core.codec import from_plain
from quintant.core.object import ObjectMeta, Opaque, replace
from quintant.runtime.apply.revision import (
    MARK,
    RevisionCache,
    RevisionMark,
    canonical,
    digest,
    fnv1,
    marked,
    revision,
)
from unit.runtime.apply.fleet import FleetStatus, fleet, of, ship, stored

COSMOS = RevisionMark(key="app.kubernetes.io/revision", carrier="label", hash=fnv1)
TEXT = st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=8), max_size=4)

TEMPLATE = {
    "metadata": {"labels": {"b": "2", "a": "1"}, "creationTimestamp": None},
    "spec": {"containers": [{"name": "é", "image": "x:1", "args": [], "env": None}]},
}
DEPLOYMENT = {
    "metadata": {"name": "web", "namespace": "sea", "uid": "u", "labels": {"app": "web"}},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE},
    "status": {"replicas": 1},
}
CANONICAL = (
    '{"apiVersion":"apps/v1","kind":"Deployment",'
    '"metadata":{"labels":{"app":"web"},"name":"web","namespace":"sea"},'
    '"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":'
    '{"metadata":{"labels":{"a":"1","b":"2"}},'
    '"spec":{"containers":[{"args":[],"image":"x:1","name":"é"}]}}}}'
)


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", "811c9dc5"), (b"a", "050c5d7e"), (b"foobar", "31f0b262")],
)
def test_fnv1_gives_the_published_vectors(data: bytes, expected: str) -> None:
    assert fnv1(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"), [(b"", "e4a6a0577479b2b4"), (b"abc", "d8bb14d833d59559")]
)
def test_digest_is_blake2b_of_eight_bytes(data: bytes, expected: str) -> None:
    assert digest(data) == expected


def test_canonical_json_sorts_keys_and_drops_nulls_status_and_what_the_server_fills_in() -> None:
    assert canonical(from_plain(Deployment, DEPLOYMENT)).decode() == CANONICAL


@pytest.mark.parametrize(
    ("mark", "child", "expected"),
    [
        (MARK, ship("ship-0"), "a72204b5f94e71d2"),
        (MARK, ship("ship-0", "aye"), "ee9eb95f48bbd610"),
        (MARK, from_plain(Deployment, DEPLOYMENT), "f55b24c705847675"),
        (COSMOS, ship("ship-0", "aye"), "13926803"),
        (COSMOS, from_plain(Deployment, DEPLOYMENT), "e9f544f9"),
    ],
)
def test_revisions_never_change_between_releases(
    mark: RevisionMark, child: ConfigMap | Deployment, expected: str
) -> None:
    assert revision(child, mark) == expected


def test_another_process_with_another_hash_seed_gives_the_same_revision() -> None:
    program = (
        "from unit.runtime.apply.fleet import ship\n"
        "from quintant.runtime.apply import revision\n"
        "print(revision(ship('ship-0', 'aye', labels={'b': '2', 'a': '1'})))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    here = revision(ship("ship-0", "aye", labels={"a": "1", "b": "2"}))
    assert answers == {f"{here}\n"}


@pytest.mark.parametrize("mark", [MARK, COSMOS, RevisionMark(ordinal="ordinal")])
@given(labels=TEXT, annotations=TEXT, data=TEXT)
def test_carrying_a_revision_or_coming_from_the_server_does_not_change_it(
    mark: RevisionMark,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    data: Mapping[str, str],
) -> None:
    meta = ObjectMeta(name="ship-0", namespace="sea", labels=labels, annotations=annotations)
    child = ConfigMap(metadata=meta, data=data)
    carrying = marked(child, mark)
    assert mark.of(carrying) == revision(child, mark)
    assert revision(stored(carrying), mark) == revision(child, mark)
    assert marked(carrying, mark) == carrying


@pytest.mark.parametrize(
    "changed",
    [
        ship("ship-1", "aye"),
        ship("ship-0", "nay"),
        ship("ship-0"),
        ship("ship-0", "aye", labels={"a": "1"}),
        ship("ship-0", "aye", annotations={"a": "1"}),
        ship("ship-0", "aye", finalizers=("test.quintant.dev/anchor",)),
    ],
)
def test_whatever_the_author_changes_changes_the_revision(changed: ConfigMap) -> None:
    assert revision(changed) != revision(ship("ship-0", "aye"))


def test_owner_ordinal_status_and_server_fields_are_no_part_of_a_revision() -> None:
    mark = RevisionMark(ordinal="test.quintant.dev/ordinal")
    plain, numbered = ship("s", "x"), ship("s", "x", annotations={mark.ordinal: "4"})
    assert revision(numbered, mark) == revision(of(fleet(), plain), mark) == revision(plain, mark)
    afloat = replace(fleet(), status=FleetStatus(afloat=2))
    assert revision(afloat) == revision(fleet(uid="another"))


def test_skipped_paths_are_no_part_of_a_revision() -> None:
    mark = RevisionMark(skip=("data.text", "data.text.deeper", "nothing.here"))
    assert revision(ship("s", "x"), mark) == revision(ship("s", "y"), mark)
    assert revision(ship("s", "x"), mark) != revision(ship("t", "x"), mark)


def test_key_order_inside_a_template_does_not_matter() -> None:
    meta = ObjectMeta(name="web", namespace="sea")
    one, two = (
        from_plain(Deployment, {"metadata": {}, "spec": {"template": template}})
        for template in ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1})
    )
    assert revision(replace(one, metadata=meta)) == revision(replace(two, metadata=meta))
    assert one.spec.template != two.spec.template
    assert isinstance(one.spec.template, Opaque)


def test_a_mark_reads_only_from_where_it_writes() -> None:
    child = marked(ship("s"), COSMOS)
    assert child.metadata.labels == {COSMOS.key: revision(child, COSMOS)}
    assert child.metadata.annotations == {}
    assert RevisionMark(key=COSMOS.key).of(child) == ""


class CountedHash:
    """A hash that counts what it is asked for."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, data: bytes) -> str:
        self.count += 1
        return fnv1(data)


def test_unchanged_bytes_are_not_hashed_twice() -> None:
    hashed = CountedHash()
    mark = RevisionMark(hash=hashed, carrier="label", ordinal="test.quintant.dev/ordinal")
    for _ in range(3):
        assert mark.of(marked(ship("s", "x"), mark)) == fnv1(canonical(ship("s", "x"), mark))
    assert hashed.count == 1
    revision(ship("s", "y"), mark)
    assert hashed.count == 2


def test_marks_do_not_share_what_they_remember() -> None:
    child = ship("s", "x", annotations={"n": "1"})
    assert revision(child, RevisionMark(ordinal="n")) != revision(child, RevisionMark())
    assert revision(child, RevisionMark(hash=fnv1)) != revision(child, RevisionMark())
    assert revision(child, RevisionMark(skip=("data",))) != revision(child, RevisionMark())


def test_what_was_not_asked_for_longest_is_forgotten() -> None:
    hashed = CountedHash()
    cache, mark = RevisionCache(most=2), RevisionMark(hash=hashed)
    for name in ("a", "b", "a", "c", "a"):
        cache.revision(ship(name, "x"), mark)
    assert hashed.count == 3
    cache.revision(ship("b", "x"), mark)
    assert hashed.count == 4


@given(TEXT, TEXT)
def test_remembered_revision_is_that_of_the_canonical_form(
    one: Mapping[str, str], other: Mapping[str, str]
) -> None:
    cache = RevisionCache(most=1)
    for data in (one, one, other, one):
        child = replace(ship("s", "x"), data=data)
        assert cache.revision(child, COSMOS) == fnv1(canonical(child, COSMOS))
