"""Promises of quintant.runtime.controller.namespaces, where a declaration is written."""

from __future__ import annotations

import pytest

from quintant import Manager
from quintant.api.core import ConfigMap, Node, Secret
from quintant.core.errors import ConfigError
from quintant.core.object import Request
from quintant.runtime.controller.builder import KeyBuilder
from quintant.runtime.reconcile.context import KeyContext


async def reconcile(request: Request, ctx: KeyContext) -> None: ...


def begun() -> KeyBuilder:
    return Manager("test").keyed("key").watches(ConfigMap, to=lambda _: ())


def test_namespaces_and_names_are_kept_once_each() -> None:
    manager = Manager("test")
    manager.keyed("key").watches(ConfigMap, to=lambda _: (), namespaces=["a", "b", "a"]).uses(
        Secret, "get", namespaces=["a"], names=["x", "x"]
    ).reconcile(reconcile)
    (declared,) = manager.declarations

    assert declared.watches[0].namespaces == ("a", "b")
    assert (declared.uses[0].namespaces, declared.uses[0].names) == (("a",), ("x",))


@pytest.mark.parametrize("wrong", ["", "Capital", "under_score", "dot.ted", "-dash", "x" * 64])
def test_namespace_that_cannot_exist_is_refused(wrong: str) -> None:
    with pytest.raises(ConfigError, match="one word of a-z, 0-9 and -"):
        begun().watches(ConfigMap, to=lambda _: (), namespaces=[wrong])
    with pytest.raises(ConfigError, match="manager 'test' names the namespace"):
        Manager("test", namespaces=[wrong])


def test_text_is_not_taken_for_a_list_of_letters() -> None:
    with pytest.raises(ConfigError, match=r'namespaces=\["default"\]'):
        Manager("test", namespaces="default")
    with pytest.raises(ConfigError, match=r'namespaces=\["default"\]'):
        begun().uses(Secret, "get", namespaces="default")
    with pytest.raises(ConfigError, match=r'names=\["token"\]'):
        begun().uses(Secret, "get", names="token")


def test_kind_without_namespaces_is_held_to_none() -> None:
    with pytest.raises(ConfigError, match="belong to the whole cluster"):
        begun().watches(Node, to=lambda _: (), namespaces=["a"])
    with pytest.raises(ConfigError, match="belong to the whole cluster"):
        begun().uses(Node, "get", namespaces=["a"])


def test_permission_that_no_name_can_hold_is_refused() -> None:
    with pytest.raises(ConfigError, match="names an object ''"):
        begun().uses(Secret, "get", names=[""])
    with pytest.raises(ConfigError, match="object by object"):
        begun().uses(Secret, "deletecollection", names=["a"])
