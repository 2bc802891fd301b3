"""Promises of quintant.runtime.watch.interning."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.pod import Pod
from quintant.core import codec
from quintant.core.object import Metadata, Model, Object
from quintant.core.resource import resource
from quintant.runtime.watch import interning
from quintant.runtime.watch.interning import interner
from unit.runtime.kinds import Chart, Mast, Ship

BODY = b"""{"metadata":{"name":"a-%d","namespace":"sea","labels":{"app":"fleet","tier":"one"},
  "ownerReferences":[{"apiVersion":"v1","kind":"Fleet","name":"armada","uid":"u-1"}]},
  "spec":{"name":"fregate","rig":"sloop"},"status":{"port":"harbourtown"}}"""


@resource(group="g", version="v1")
class Odd(Object):
    """A kind whose parts are no structs."""

    spec: tuple[Mast, ...] = ()
    status: Mapping[str, Mast] | None = None


class Bare(Model):
    phase: str | None = None
    replicas: int = 0


@resource(group="g", version="v1")
class Plain(Object):
    """A kind whose status may be missing."""

    status: Bare | None = None


def test_equal_strings_of_two_objects_are_one() -> None:
    one, two = codec.decode(Ship, BODY % 1), codec.decode(Ship, BODY % 2)
    before = codec.encode(one)
    for obj in (one, two):
        interner(Ship)(obj)

    assert codec.encode(one) == before
    assert one.metadata.namespace is two.metadata.namespace
    assert [id(text) for text in one.metadata.labels] == [id(text) for text in two.metadata.labels]
    assert one.metadata.labels["app"] is two.metadata.labels["app"]
    assert one.metadata.owner_references[0].uid is two.metadata.owner_references[0].uid
    assert one.status is not None
    assert two.status is not None
    assert one.status.port is two.status.port


def test_a_value_equal_to_a_default_is_still_sent() -> None:
    for body in (b'{"metadata":{"name":"a"},"spec":{}}', BODY % 1):
        obj = codec.decode(Ship, body)
        before = codec.encode(obj)
        interner(Ship)(obj)
        assert codec.encode(obj) == before


def test_every_shape_of_a_kind_can_be_interned() -> None:
    for kind in (Chart, Odd, Plain, Metadata[Chart]):
        obj = codec.decode(kind, b'{"metadata":{"name":"a"}}')
        interner(kind)(obj)
        assert obj.metadata.name == "a"
    for status in (b'{"phase":"Up"}', b"{}", b"null"):
        interner(Plain)(codec.decode(Plain, b'{"metadata":{"name":"a"},"status":%s}' % status))
    interner(Odd)(codec.decode(Odd, b'{"metadata":{"name":"a"},"spec":[{"height":3}]}'))


def test_a_pods_phase_is_shared() -> None:
    body = b'{"metadata":{"name":"a"},"status":{"phase":"Running"}}'
    one, two = codec.decode(Pod, body), codec.decode(Pod, body)
    for pod in (one, two):
        interner(Pod)(pod)

    assert one.status.phase is two.status.phase


def test_the_pool_does_not_grow_for_ever() -> None:
    body = b'{"metadata":{"name":"a","namespace":"once-upon-a-time","labels":{%s}}}'
    first, last = codec.decode(Chart, body % b""), codec.decode(Chart, body % b"")
    intern = interner(Chart)
    intern(first)

    for number in range(interning.POOL_SIZE // 100 + 1):
        labels = b",".join(b'"l-%d-%d":""' % (number, each) for each in range(100))
        intern(codec.decode(Chart, b'{"metadata":{"name":"a","labels":{%s}}}' % labels))
    intern(last)

    assert first.metadata.namespace == last.metadata.namespace
    assert first.metadata.namespace is not last.metadata.namespace
