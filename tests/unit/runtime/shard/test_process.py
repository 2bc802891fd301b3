from __future__ import annotations

from collections.abc import Callable

import pytest

from quintant import ConfigError, Context, Custom, Manager, Model, Request, by_namespace, resource
from quintant.api.rbac import Role
from quintant.runtime.manager.rbac import manager_rbac
from quintant.runtime.shard.process import layout_digest, sharded_controllers


class Spec(Model):
    text: str = ""


@resource(group="demo.dev", version="v1")
class Slipway(Custom[Spec, Spec]): ...


async def reconcile(obj: Slipway, ctx: Context[Slipway]) -> None: ...


def by_name(request: Request) -> Request:
    return Request(request.name)


def sharded(declare: Callable[[Manager], None], name: str = "harbour") -> Manager:
    manager = Manager(name, shards=True)
    declare(manager)
    return manager


def plain(manager: Manager) -> None:
    manager.controls(Slipway).reconcile(reconcile)


def alone(manager: Manager) -> None:
    manager.controls(Slipway).single().workers(1).reconcile(reconcile)


def one_worker(manager: Manager) -> None:
    manager.controls(Slipway).workers(1).reconcile(reconcile)


def digest(declare: Callable[[Manager], None]) -> str:
    return layout_digest(128, sharded_controllers(sharded(declare).declarations))


def test_one_worker_on_each_of_several_members_is_refused_and_single_is_named() -> None:
    with pytest.raises(ConfigError, match=r"\.single\(\)"):
        sharded(one_worker).check()
    sharded(alone).check()


def test_a_name_that_is_too_long_for_a_label_is_refused() -> None:
    with pytest.raises(ConfigError, match="shorter name"):
        sharded(plain, "h" * 51).check()


def test_a_controller_is_single_or_has_a_shard_key() -> None:
    with pytest.raises(ConfigError, match="cannot be single and have a shard key"):
        Manager("m").controls(Slipway).single().shard_by(by_namespace)
    with pytest.raises(ConfigError, match="cannot be single and have a shard key"):
        Manager("m").controls(Slipway).shard_by(by_namespace).single()


def test_what_divides_keys_otherwise_is_another_layout() -> None:
    found = [
        digest(plain),
        digest(alone),
        digest(lambda m: m.controls(Slipway).shard_by(by_namespace).reconcile(reconcile)),
        digest(lambda m: m.controls(Slipway).shard_by(by_name).reconcile(reconcile)),
        digest(lambda m: m.controls(Slipway, name="other").reconcile(reconcile)),
    ]

    assert len(set(found)) == 5
    assert digest(plain) == found[0]


def test_members_may_bury_each_other_and_nothing_else_of_their_namespace() -> None:
    manager = sharded(plain)
    objects = manager_rbac(manager.settings, manager.declarations, "system")
    (role,) = [each for each in objects if isinstance(each, Role)]
    (rule,) = role.rules or ()

    assert role.metadata.name == "harbour-shards"
    assert rule.resources == ("leases",)
    assert set(rule.verbs) == {"create", "delete", "get", "list", "patch", "watch"}
    assert rule.resource_names == ()
