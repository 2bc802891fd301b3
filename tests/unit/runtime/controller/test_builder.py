from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from unittest.mock import AsyncMock

import pytest

from quintant.api.core import ConfigMap, Pod, Secret
from quintant.core.errors import ConfigError
from quintant.core.object import (
    Custom,
    Model,
    Object,
    ObjectMeta,
    Opaque,
    OwnerReference,
    Request,
)
from quintant.core.resource import resource
from quintant.core.schema.crd import definitions
from quintant.runtime.controller.declaration import Declaration, Retry, by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import Context, KeyContext
from quintant.runtime.source.sources import every
from quintant.runtime.webhook import Spoke
from quintant.testing import InProcessCluster


class Spec(Model):
    text: str = ""


@resource(group="demo.dev", version="v1", status=True)
class Parent(Custom[Spec, Spec]): ...


class Plain(Object): ...


async def reconcile(obj: Parent, ctx: Context[Parent]) -> None: ...


async def reconcile_key(request: Request, ctx: KeyContext) -> None: ...


async def cleanup(obj: Parent, ctx: Context[Parent]) -> None: ...


def declared(build: Callable[[Manager], Any]) -> Declaration[Any]:
    manager = Manager("test")
    build(manager)
    return manager.declarations[0]


def test_builder_collects_what_a_controller_is() -> None:
    found = declared(
        lambda manager: (
            manager.controls(Parent, name="parents", labels={"a": "b"})
            .owns(ConfigMap)
            .watches(Secret, to=by_index("secret"), fields={"type": "x"})
            .index("secret", lambda obj: [obj.spec.text])
            .uses(Pod, "get", "list")
            .finalize("demo.dev/cleanup", cleanup)
            .on_deleted(lambda request: None)
            .workers(7)
            .timeout(timedelta(seconds=9))
            .retry(first=1, cap=2)
            .without_resync()
            .reconcile(reconcile)
        )
    )

    assert (found.name, found.kind, found.labels) == ("parents", Parent, {"a": "b"})
    assert [(w.kind, w.owned) for w in found.watches] == [(ConfigMap, True), (Secret, False)]
    assert [(use.kind, use.verbs) for use in found.uses] == [(Pod, ("get", "list"))]
    assert (found.workers, found.timeout, found.retry) == (7, 9.0, Retry(1, 2))
    assert found.finalizer is not None
    assert found.finalizer.name == "demo.dev/cleanup"
    assert not found.resync


def test_controller_is_named_after_its_kind_by_default() -> None:
    assert declared(lambda m: m.controls(Parent).reconcile(reconcile)).name == "parent"


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (lambda m: m.controls(Plain), "Plain is not a kind"),
        (lambda m: m.controls(Parent).owns(Plain), "Plain is not a kind"),
        (lambda m: m.controls(Parent).workers(0), "at least one worker"),
        (lambda m: m.controls(Parent).timeout(0), "more than zero"),
        (lambda m: m.controls(Parent).retry(first=2, cap=1), "0 < first <= cap"),
        (lambda m: m.controls(Parent).retry(rate=0), "makes no sense"),
        (lambda m: m.keyed("x").on(every(60)).reconcile(reconcile_key), "would wake nobody"),
        (lambda m: Manager("slow", rate=-1), "makes no sense"),
        (lambda m: m.controls(Parent).uses(Pod), "names no verb"),
        (lambda m: m.controls(Parent).finalize("bare", cleanup), "not qualified"),
        (
            lambda m: m.controls(Parent).finalize("a/b", cleanup).finalize("a/c", cleanup),
            "one finalizer",
        ),
        (lambda m: m.controls(Parent).index("x", list).index("x", list), "declared twice"),
        (
            lambda m: m.controls(Parent).watches(Pod, to=by_index("no")).reconcile(reconcile),
            "unknown index 'no'",
        ),
        (lambda m: m.controls(Parent).reconcile("text"), "cannot be called"),
        (lambda m: m.keyed("x").reconcile(reconcile_key), "watches nothing"),
        (
            lambda m: m.keyed("x").watches(Pod, to=by_index("y")).reconcile(reconcile_key),
            "by_index needs a controlled kind",
        ),
        (lambda m: Manager(""), "needs a name"),
    ],
)
def test_mistake_is_refused_when_it_is_declared(
    mistake: Callable[[Manager], Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        mistake(Manager("test"))


def test_second_reconciler_is_refused() -> None:
    builder = Manager("test").controls(Parent)
    builder.reconcile(reconcile)
    with pytest.raises(ConfigError, match="two reconcilers"):
        builder.reconcile(reconcile)


def test_second_controller_of_the_same_name_is_refused() -> None:
    manager = Manager("test")
    manager.controls(Parent).reconcile(reconcile)
    with pytest.raises(ConfigError, match="two controllers are called 'parent'"):
        manager.controls(Parent).reconcile(reconcile)


@pytest.mark.parametrize("begin", [lambda m: m.controls(Parent), lambda m: m.keyed("parent")])
async def test_controller_without_a_reconciler_is_named_before_anything_runs(
    begin: Callable[[Manager], Any], cluster: InProcessCluster
) -> None:
    manager = Manager("test")
    manager.keyed("x").watches(ConfigMap, to=lambda obj: []).reconcile(reconcile_key)
    manager.bind(cluster.environment())
    begin(manager)
    with pytest.raises(ConfigError, match="controller 'parent' has no reconciler"):
        manager.bind(cluster.environment())


def test_kinds_are_listed_once_each() -> None:
    manager = Manager("test")
    manager.controls(Parent).owns(ConfigMap).reconcile(reconcile)
    manager.keyed("x").watches(ConfigMap, to=lambda obj: []).reconcile(reconcile_key)
    assert manager.kinds() == [Parent, ConfigMap]


async def allow(*_: Any) -> None: ...


def same(obj: dict[str, Any]) -> dict[str, Any]:
    return obj


@resource(group="demo.dev", version="v1beta1", kind="Parent", storage=False)
class OldParent(Custom[Opaque, Opaque]):
    """The same kind, before."""


def test_kinds_that_only_webhooks_know_are_kinds_of_the_manager() -> None:
    manager = Manager("test")
    manager.keyed("x").watches(ConfigMap, to=lambda obj: []).reconcile(reconcile_key)
    manager.webhooks.validating(ConfigMap, allow)
    manager.webhooks.converting(Parent, {"v1beta1": Spoke(same, same, OldParent)})
    assert manager.kinds() == [ConfigMap, Parent, OldParent]

    (definition,) = definitions(manager.kinds())
    assert [version["name"] for version in definition["spec"]["versions"]] == ["v1", "v1beta1"]


def owned_by(*references: OwnerReference) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name="c", namespace="n", owner_references=references))


OURS = OwnerReference(api_version="demo.dev/v1", kind="Parent", name="p", uid="1", controller=True)
SIDE = OwnerReference(api_version="demo.dev/v2", kind="Parent", name="q", uid="2")
THEIRS = OwnerReference(api_version="other.dev/v1", kind="Parent", name="r", uid="3")


@pytest.mark.parametrize(
    ("every_owner", "child", "woken"),
    [
        (False, owned_by(OURS, SIDE, THEIRS), [Request("p", "n")]),
        (True, owned_by(OURS, SIDE, THEIRS), [Request("p", "n"), Request("q", "n")]),
        (False, owned_by(SIDE), []),
        (False, owned_by(), []),
    ],
)
def test_child_wakes_its_controller_or_every_owner_of_the_kind(
    every_owner: bool, child: ConfigMap, woken: list[Request]
) -> None:
    found = declared(
        lambda m: m.controls(Parent).owns(ConfigMap, every_owner=every_owner).reconcile(reconcile)
    )
    mapper: Any = found.watches[0].to
    assert list(mapper(child)) == woken


class _PlainCall:
    def __call__(self, obj: Parent, ctx: Context[Parent]) -> None: ...


class _AsyncCall:
    async def __call__(self, obj: Parent, ctx: Context[Parent]) -> None: ...


def _plain(obj: Parent, ctx: Context[Parent]) -> None: ...


def _generating(obj: Parent, ctx: Context[Parent]) -> Any:
    yield obj


async def _asynchronous(obj: Parent, ctx: Context[Parent]) -> None: ...


def _forwarding(obj: Parent, ctx: Context[Parent]) -> Awaitable[None]:
    return _asynchronous(obj, ctx)


@functools.wraps(_asynchronous)
def _wrapped(*given: Any) -> Any:
    return _asynchronous(*given)


@pytest.mark.parametrize(
    "given", [_plain, _PlainCall(), _PlainCall().__call__, functools.partial(_plain), _generating]
)
def test_reconciler_that_is_not_async_is_told_at_once_in_three_lines(given: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Manager("m").controls(Parent).reconcile(given)
    told = str(caught.value).splitlines()
    assert told[0].startswith("controller 'parent': ")
    assert told[0].endswith("is not async")
    assert told[1:] == [
        "because: the loop awaits what it returns; a plain function would block all others",
        "try: async def, and ctx.in_thread(function, ...) for calls that block",
    ]


@pytest.mark.parametrize(
    "given",
    [
        _asynchronous,
        _AsyncCall(),
        _AsyncCall().__call__,
        functools.partial(_asynchronous),
        _forwarding,
        _wrapped,
        lambda obj, ctx: _asynchronous(obj, ctx),
        AsyncMock(),
    ],
)
def test_whatever_can_be_awaited_is_a_reconciler(given: Any) -> None:
    manager = Manager("m")
    manager.controls(Parent).reconcile(given)
    assert [declared.name for declared in manager.declarations] == ["parent"]


def test_cleanup_and_runnable_that_are_not_async_are_told_at_once() -> None:
    manager = Manager("m")
    with pytest.raises(ConfigError, match=r"finalizer 'demo\.dev/x': _plain is not async"):
        manager.controls(Parent).finalize("demo.dev/x", _plain)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="runnable: _plain is not async"):
        manager.add(_plain)  # type: ignore[arg-type]
