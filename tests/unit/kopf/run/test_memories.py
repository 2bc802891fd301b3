"""What is remembered of objects: as little as can be while nothing is at work on them."""

from __future__ import annotations

from typing import Any

from quintant.kopf import public as kopf
from quintant.kopf.run.memories import Memories
from quintant.testing import InProcessCluster
from unit.kopf.kit import at_work, fresh_registry, handled, with_kind


async def test_of_an_object_at_rest_the_memo_is_kept_and_the_state_is_not() -> None:
    memories = Memories(kopf.Memo())
    held = memories.recall("1", {"spec": {"size": 1}}, listed=False)
    held.memo.seen, body = True, held.body
    memories.rest("1")
    assert body.spec["size"] == 1  # whoever holds it sees what it saw
    assert len(held.body) == 0
    again = memories.recall("1", {"spec": {"size": 2}}, listed=False)
    assert again.memo.seen
    assert again.body.spec["size"] == 2
    assert body.spec["size"] == 1


async def test_a_body_that_a_handler_kept_shows_what_it_was_called_for(
    cluster: InProcessCluster,
) -> None:
    registry, bodies = fresh_registry(), list[Any]()

    @kopf.on.create("kopfexamples")
    @kopf.on.update("kopfexamples")
    def keep(body: Any, **_: Any) -> None:
        bodies.append(body)

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={"size": 1})
        await examples.eventually(handled)
        await examples.patch({"spec": {"size": 2}})
        await examples.eventually(lambda found: handled(found) and '"size":2' in str(found))
    assert [each.spec["size"] for each in bodies] == [1, 2]
