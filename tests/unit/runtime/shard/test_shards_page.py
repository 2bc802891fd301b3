"""Promises of quintant.runtime.shard.shards_page."""

from __future__ import annotations

import msgspec

from quintant import Context, Custom, Manager, Model, Shards, resource
from quintant.runtime.shard.layout import LEADER, by_key, range_name, range_of
from quintant.runtime.shard.shards_page import MemberEntry
from quintant.testing import InProcessCluster, named

RANGES = 8


class Spec(Model):
    text: str = ""


@resource(group="demo.dev", version="v1")
class Lock(Custom[Spec, Spec]): ...


async def reconcile(obj: Lock, ctx: Context[Lock]) -> None: ...


async def test_a_member_shows_its_ranges_with_their_keys_and_epochs(
    cluster: InProcessCluster,
) -> None:
    manager = Manager("harbour", shards=Shards(RANGES))
    manager.controls(Lock).reconcile(reconcile)
    engine = await cluster.run(manager)
    made = [await cluster.create(Lock(metadata=named(f"l{n}"), spec=Spec())) for n in range(5)]
    show = engine.json_pages["shards"]
    before = msgspec.json.decode(await show("") or b"", type=MemberEntry)
    await cluster.advance(25)
    shown = msgspec.json.decode(await show("") or b"", type=MemberEntry)

    assert await show("l1") is None
    assert before.held == []
    assert before.trouble == "" or not before.may_write
    assert (shown.group, shown.ranges, shown.may_write, shown.trouble) == ("harbour", 8, True, "")
    assert [each.range for each in shown.held] == [range_name(n) for n in (LEADER, *range(RANGES))]
    assert {each.state for each in shown.held} == {"held"}
    assert min(each.epoch for each in shown.held) > 0
    wanted = [range_of(by_key(obj.key), RANGES) for obj in made]
    assert [each.keys for each in shown.held[1:]] == [wanted.count(n) for n in range(RANGES)]
