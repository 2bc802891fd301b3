"""Handlers of changes: called once for each, with what changed, and kept as kopf keeps them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from quintant.kopf import public as kopf
from quintant.kopf.declare.lifecycles import asap
from quintant.kopf.declare.settings import OperatorSettings
from quintant.kopf.run.daemons import ObjectDaemons
from quintant.kopf.run.discovering import discover
from quintant.kopf.run.indices import OperatorIndices
from quintant.kopf.run.invoke import Execution
from quintant.kopf.run.memories import ObjectMemory
from quintant.kopf.run.round_values import HandlerSet, Operating, RoundInput
from quintant.kopf.run.rounds import Rounds
from quintant.kopf.run.threads import HandlerThreads
from quintant.kopf.values.body import Body
from quintant.kopf.values.patch import Patch
from quintant.testing import InProcessCluster
from unit.kopf.kit import (
    FINALIZER,
    LAST_HANDLED,
    PREFIX,
    annotations_of,
    at_work,
    fresh_registry,
    handled,
    with_kind,
)


async def test_a_creation_is_handled_once_and_its_result_is_in_the_status(
    cluster: InProcessCluster,
) -> None:
    registry, calls = fresh_registry(), list[str]()

    @kopf.on.create("kopfexamples", id="create_fn")
    def create_fn(spec: Any, name: str, **_: Any) -> Any:
        calls.append(name)
        return {"message": f"hello {spec['x']}"}

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={"x": 1})
        found = await examples.eventually(handled)
        assert found["status"] == {"create_fn": {"message": "hello 1"}}
        assert annotations_of(found) == {LAST_HANDLED: '{"spec":{"x":1}}\n'}
        await asyncio.sleep(60)
    assert calls == ["a"]


async def test_an_update_is_told_by_its_difference(cluster: InProcessCluster) -> None:
    registry, seen = fresh_registry(), list[Any]()

    @kopf.on.update("kopfexamples")
    async def changed(old: Any, new: Any, diff: Any, **_: Any) -> None:
        seen.append((old["spec"], new["spec"], list(diff)))

    @kopf.on.field("kopfexamples", field="spec.size")
    async def size(old: Any, new: Any, **_: Any) -> None:
        seen.append((old, new))

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={"size": 1, "color": "red"})
        await examples.eventually(handled)
        await examples.patch({"spec": {"size": 2}})
        await examples.eventually(lambda found: handled(found) and '"size":2' in str(found))
        await examples.patch({"status": {"other": 1}})
        await asyncio.sleep(30)
    assert seen == [
        (None, 1),
        (
            {"size": 1, "color": "red"},
            {"size": 2, "color": "red"},
            [("change", ("spec", "size"), 1, 2)],
        ),
        (1, 2),
    ]


async def test_a_deletion_waits_for_its_handlers(cluster: InProcessCluster) -> None:
    registry, calls = fresh_registry(), list[str]()

    @kopf.on.delete("kopfexamples")
    def clean(retry: int, **_: Any) -> None:
        calls.append(f"clean {retry}")
        if not retry:
            raise kopf.TemporaryError("not yet", delay=30)

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        found = await examples.eventually(
            lambda found: found["metadata"].get("finalizers") == [FINALIZER]
        )
        await examples.delete()
        await asyncio.sleep(10)
        found = await examples.get()
        assert calls == ["clean 0"]
        name = next(name for name in annotations_of(found) if name.endswith("clean"))
        assert json.loads(annotations_of(found)[name])["retries"] == 1
        await examples.gone()
    assert calls == ["clean 0", "clean 1"]


async def test_an_optional_deletion_holds_nothing(cluster: InProcessCluster) -> None:
    registry = fresh_registry()

    @kopf.on.delete("kopfexamples", optional=True)
    def clean(**_: Any) -> None: ...

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        found = await examples.eventually(handled)
        assert "finalizers" not in found["metadata"]


async def test_what_was_there_is_resumed_once(cluster: InProcessCluster) -> None:
    registry, calls = fresh_registry(), list[str]()

    @kopf.on.resume("kopfexamples")
    def resumed(reason: str, **_: Any) -> None:
        calls.append(reason)

    @kopf.on.create("kopfexamples")
    def created(**_: Any) -> None:
        calls.append("created")

    examples = await with_kind(cluster)
    await examples.create(spec={})
    async with at_work(cluster, registry):
        await examples.eventually(handled)
    assert calls == ["created"]
    async with at_work(cluster, registry):
        await asyncio.sleep(30)
    assert calls == ["created", "resume"]


async def test_a_handler_goes_on_where_an_operator_was_killed(cluster: InProcessCluster) -> None:
    registry, calls = fresh_registry(), list[int]()

    @kopf.on.create("kopfexamples", id="slow")
    def slow(retry: int, started: Any, **_: Any) -> None:
        calls.append(retry)
        if retry < 2:
            raise kopf.TemporaryError("again", delay=20)

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        await examples.eventually(lambda found: f"{PREFIX}/slow" in annotations_of(found))
    await asyncio.sleep(60)
    assert calls == [0]
    async with at_work(cluster, registry):
        await examples.eventually(handled)
    assert calls == [0, 1, 2]


async def test_progress_of_kopf_itself_is_taken_over(cluster: InProcessCluster) -> None:
    """A record as kopf 1.45 writes it, of an operator that was ended between two handlers."""
    registry, calls = fresh_registry(), list[str]()

    @kopf.on.create("kopfexamples", id="first")
    def first(**_: Any) -> None:
        calls.append("first")

    @kopf.on.create("kopfexamples", id="second")
    def second(retry: int, **_: Any) -> None:
        calls.append(f"second {retry}")

    times = '"started":"2026-01-01T00:00:00.000000+00:00"'
    done = f'{{{times},"stopped":"2026-01-01T00:00:01.000000+00:00","purpose":"create",'
    examples = await with_kind(cluster)
    kept = {
        f"{PREFIX}/first": f'{done}"retries":1,"success":true,"failure":false}}',
        f"{PREFIX}/second": f'{{{times},"purpose":"create","retries":4,"success":false}}',
    }
    await examples.create(spec={}, metadata={"annotations": kept})
    async with at_work(cluster, registry):
        await examples.eventually(handled)
    assert calls == ["second 4"]


async def test_errors_are_taken_as_their_modes_say(cluster: InProcessCluster) -> None:
    registry, calls = fresh_registry(), list[str]()

    def failing(id: str, **given: Any) -> None:
        @kopf.on.create("kopfexamples", id=id, **given)
        def fail(retry: int, **_: Any) -> None:
            calls.append(f"{id} {retry}")
            raise given.get("param") or ValueError("no")

    failing("permanent", errors=kopf.ErrorsMode.PERMANENT)
    failing("ignored", errors=kopf.ErrorsMode.IGNORED)
    failing("twice", retries=2, backoff=1)
    failing("timed", timeout=5, backoff=3)
    failing("fatal", param=kopf.PermanentError("never"))
    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        await examples.eventually(handled)
    assert sorted(calls) == [
        "fatal 0", "ignored 0", "permanent 0", "timed 0", "timed 1", "twice 0", "twice 1",
    ]  # fmt: skip


async def test_handlers_within_a_handler_are_kept_like_it(cluster: InProcessCluster) -> None:
    registry, calls = fresh_registry(), list[str]()

    @kopf.on.create("kopfexamples", id="outer")
    def outer(spec: Any, **_: Any) -> None:
        for item in spec["items"]:

            @kopf.subhandler(id=item)
            async def inner(item: str = item, retry: int = 0, **_: Any) -> Any:
                calls.append(f"{item} {retry}")
                if item == "b" and not retry:
                    raise kopf.TemporaryError("once", delay=5)
                return {"done": item}

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={"items": ["a", "b"]})
        found = await examples.eventually(handled)
    assert sorted(calls) == ["a 0", "b 0", "b 1"]
    assert found["status"] == {"outer/a": {"done": "a"}, "outer/b": {"done": "b"}}


async def test_a_patch_reaches_spec_status_and_metadata(cluster: InProcessCluster) -> None:
    registry = fresh_registry()

    @kopf.on.create("kopfexamples")
    def create(patch: Any, **_: Any) -> None:
        patch.spec["size"] = 5
        patch.status["phase"] = "Ready"
        patch.metadata.labels["seen"] = "yes"
        patch.meta.annotations["note"] = "1"
        patch.fns.append(lambda body: body["spec"].update(more=[1, 2]))

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={"gone": 1})
        found = await examples.eventually(lambda found: "more" in found["spec"])
        assert found["spec"] == {"gone": 1, "size": 5, "more": [1, 2]}
        assert found["status"] == {"phase": "Ready"}
        assert found["metadata"]["labels"] == {"seen": "yes"}
        assert annotations_of(found)["note"] == "1"


async def test_an_object_that_no_handler_is_for_is_left_alone(cluster: InProcessCluster) -> None:
    registry = fresh_registry()

    @kopf.on.create("kopfexamples", labels={"wanted": kopf.PRESENT})
    def create(**_: Any) -> None: ...

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        before = await examples.create(spec={})
        await asyncio.sleep(30)
        assert await examples.get() == before


async def test_one_object_keeps_no_other_waiting(cluster: InProcessCluster) -> None:
    registry, forever = fresh_registry(), asyncio.Event()

    @kopf.on.create("kopfexamples")
    async def create(name: str, **_: Any) -> None:
        if name == "a":
            await forever.wait()

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        for name in ("a", "b", "c"):
            await examples.create(name, spec={})
        await examples.eventually(handled, "b")
        await examples.eventually(handled, "c")
        assert not handled(await examples.get("a"))


async def test_a_memo_lasts_as_long_as_its_object(cluster: InProcessCluster) -> None:
    registry, seen = fresh_registry(), list[Any]()

    @kopf.on.create("kopfexamples")
    def create(memo: Any, name: str, **_: Any) -> None:
        seen.append(memo.greeting)
        memo.name = name

    @kopf.on.update("kopfexamples")
    def update(memo: Any, **_: Any) -> None:
        seen.append(memo.name)

    examples = await with_kind(cluster)
    async with at_work(cluster, registry, memo=kopf.Memo(greeting="hi")):
        await examples.create(spec={})
        await examples.eventually(handled)
        await examples.patch({"spec": {"x": 1}})
        await examples.eventually(lambda found: handled(found) and '"x":1' in str(found))
    assert seen == ["hi", "a"]


async def test_what_is_left_to_write_and_is_there_already_keeps_no_handler_waiting(
    cluster: InProcessCluster,
) -> None:
    registry, settings = fresh_registry(), OperatorSettings()

    @kopf.on.create("kopfexamples")
    def create(**_: Any) -> None: ...

    examples = await with_kind(cluster)
    obj, rest = await examples.create(spec={}), cluster.client.rest
    resource = next(each for each in await discover(rest) if each.plural == "kopfexamples")
    threads = HandlerThreads(settings.execution)
    clock = cluster.environment().clock
    execution = Execution(settings, clock, asap, threads, None, asyncio.Event())
    async with asyncio.TaskGroup() as group:
        daemons = ObjectDaemons(execution, rest, group)
        shared = Operating(execution, rest, rest, OperatorIndices([]), daemons)
        rounds = Rounds(shared, resource, HandlerSet.of(registry, resource))
        left = Patch(fns=[lambda body: None])
        memory = ObjectMemory(kopf.Memo(), Body(obj), listed=False, remaining=left)
        given = RoundInput("MODIFIED", obj, memory, fresh=False, consistent=True)
        assert (await rounds.run(given, lambda: None)).delay == 0.0
        await rounds.run(given, lambda: None)
        assert handled(await examples.get())


async def test_a_function_of_two_decorators_is_called_for_both(cluster: InProcessCluster) -> None:
    registry, reasons, seen = fresh_registry(), list[str](), list[str]()

    @kopf.on.create("kopfexamples")
    @kopf.on.update("kopfexamples")
    def changed(reason: kopf.Reason, **_: Any) -> None:
        reasons.append(reason.value)

    @kopf.on.event("kopfexamples", labels={"tier": "a"})
    @kopf.on.event("kopfexamples", labels={"tier": "b"})
    def happened(labels: Any, **_: Any) -> None:
        seen.append(labels["tier"])

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(metadata={"labels": {"tier": "a"}}, spec={"size": 1})
        await examples.eventually(handled)
        await examples.patch({"spec": {"size": 2}, "metadata": {"labels": {"tier": "b"}}})
        await examples.eventually(lambda found: handled(found) and '"size":2' in str(found))
    assert reasons == ["create", "update"]
    assert set(seen) == {"a", "b"}
