"""State by key: made on first use, replaced, and forgotten with the object."""

from __future__ import annotations

from dataclasses import dataclass, field

from quintant import Context, Custom, KeyedState, Manager, Model, Request, resource
from quintant.runtime.reconcile.keyed_state import KeyHolder
from quintant.runtime.source.sources import SourceContext
from quintant.testing import InProcessCluster, named, settle

A, B = Request("a", "default"), Request("b", "default")


@resource(group="demo.dev", version="v1")
class Buoy(Custom[Model, Model]): ...


@dataclass
class Bearings:
    count: int = 0


def test_value_is_made_on_first_use_and_kept() -> None:
    state = KeyedState(Bearings)
    state[A].count += 1
    assert (state[A].count, state[B].count) == (1, 0)
    assert (len(state), set(state), A in state) == (2, {A, B}, True)
    assert sorted(each.count for each in state.values()) == [0, 1]


def test_get_makes_nothing() -> None:
    state = KeyedState(Bearings)
    assert state.get(A) is None
    assert (len(state), A in state) == (0, False)


def test_value_is_replaced_and_forgotten() -> None:
    state = KeyedState(int)
    state[A] = 3
    assert (state.get(A), state[A]) == (3, 3)
    state.forget(A)
    state.forget(B)
    assert (state.get(A), state[A]) == (None, 0)


def test_keyed_state_is_a_key_holder() -> None:
    assert isinstance(KeyedState(int), KeyHolder)
    assert not isinstance({}, KeyHolder)


@dataclass
class Beacon:
    """A source with something to forget."""

    forgotten: list[Request] = field(default_factory=list)

    async def __call__(self, context: SourceContext) -> None: ...

    def forget(self, request: Request) -> None:
        self.forgotten.append(request)


async def test_key_is_forgotten_everywhere_when_its_object_is_gone(
    cluster: InProcessCluster,
) -> None:
    first, second, beacon = KeyedState(int), KeyedState(int), Beacon()
    gone: list[tuple[Request, bool]] = []

    async def reconcile(buoy: Buoy, ctx: Context[Buoy]) -> None:
        first[ctx.request] = second[ctx.request] = 1

    manager = Manager("buoys")
    (
        manager.controls(Buoy)
        .keeps(first)
        .keeps(second)
        .on(beacon)
        .on_deleted(lambda request: gone.append((request, request in first)))
        .reconcile(reconcile)
    )
    await cluster.run(manager)
    stored = await cluster.create(Buoy(metadata=named("a"), spec=Model()))
    await cluster.create(Buoy(metadata=named("b"), spec=Model()))
    await settle()
    await cluster.client.delete(stored)
    await settle()
    assert (set(first), set(second), beacon.forgotten) == ({B}, {B}, [A])
    assert gone == [(A, False)]


async def test_source_without_forget_keeps_nothing(cluster: InProcessCluster) -> None:
    async def silent(context: SourceContext) -> None: ...

    async def reconcile(buoy: Buoy, ctx: Context[Buoy]) -> None: ...

    manager = Manager("buoys")
    manager.controls(Buoy).on(silent).reconcile(reconcile)
    assert manager.declarations[0].keeps == ()
