"""Kinds that appear later are followed by a pattern, for as long as they are served."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from quintant import KeyContext, Manager, Request
from quintant.core.dynamic import Unstructured, dynamic
from quintant.core.errors import ConfigError
from quintant.core.resource import resource_of
from quintant.runtime.source.matching_kinds import MatchingKinds
from quintant.testing import InProcessCluster

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
JSON = {"content-type": "application/json"}
MERGE = {"content-type": "application/merge-patch+json"}


def definition(plural: str, kind: str, *versions: str, group: str = "shops.dev") -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": ANYTHING}}}
    served = [
        {"name": name, "served": True, "storage": name == versions[-1], "schema": schema}
        for name in versions
    ]
    names = {"kind": kind, "plural": plural}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": served}
    meta = {"name": f"{plural}.{group}"}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**head, "metadata": meta, "spec": spec}


async def install(cluster: InProcessCluster, body: dict[str, Any]) -> None:
    await cluster.client.raw("POST", DEFINITIONS, body=msgspec.json.encode(body), headers=JSON)


async def make(cluster: InProcessCluster, kind: type[Unstructured], name: str) -> None:
    meta = {"name": name, "namespace": "default"}
    await cluster.create(kind.of({"metadata": meta, "spec": {"a": 1}}))


class Audit:
    """Counts what wakes it, and what its kinds are."""

    def __init__(self, pattern: str = "*.shops.dev") -> None:
        self.seen: list[str] = []
        self.kinds = MatchingKinds(pattern, to=self.keys)
        self.manager = Manager("audit")
        self.manager.keyed("audit").on(self.kinds).reconcile(self.reconcile)

    def keys(self, obj: Unstructured) -> Iterable[Request]:
        if obj.metadata.name == "odd":
            raise ValueError("an odd one")
        return [Request(obj.metadata.name, obj.metadata.namespace)]

    async def reconcile(self, request: Request, ctx: KeyContext) -> None:
        self.seen.append(request.name)

    def names(self) -> list[str]:
        return sorted(resource_of(each).full_name for each in self.kinds.kinds)


CARTS, TILLS = dynamic("shops.dev/v1", "Cart"), dynamic("shops.dev/v1", "Till")


async def test_a_kind_is_followed_once_it_is_served(cluster: InProcessCluster) -> None:
    audit = Audit()
    await install(cluster, definition("carts", "Cart", "v1"))
    await make(cluster, CARTS, "before")
    await cluster.run(audit.manager)
    await cluster.advance(5)
    await install(cluster, definition("tills", "Till", "v1"))
    await install(cluster, definition("boxes", "Box", "v1", group="others.dev"))
    await make(cluster, TILLS, "later")
    await cluster.advance(30)
    assert audit.seen == ["before", "later"]
    assert audit.names() == ["carts.shops.dev", "tills.shops.dev"]
    assert [each.at("spec", "a") for each in audit.kinds.objects(TILLS)] == [1]


async def test_a_kind_that_goes_wakes_the_keys_of_its_objects(cluster: InProcessCluster) -> None:
    audit = Audit()
    await cluster.run(audit.manager)
    await install(cluster, definition("carts", "Cart", "v1"))
    await make(cluster, CARTS, "a")
    await cluster.advance(30)
    audit.seen.clear()
    await cluster.client.raw("DELETE", f"{DEFINITIONS}/carts.shops.dev")
    await cluster.advance(30)
    assert "a" in audit.seen
    assert audit.names() == []
    await install(cluster, definition("carts", "Cart", "v1"))
    await make(cluster, CARTS, "b")
    await cluster.advance(30)
    assert audit.seen[-1] == "b"


async def test_another_stored_version_is_followed_in_its_place(cluster: InProcessCluster) -> None:
    audit = Audit()
    await cluster.run(audit.manager)
    await install(cluster, definition("carts", "Cart", "v1"))
    await make(cluster, CARTS, "a")
    await cluster.advance(30)
    body = msgspec.json.encode({"spec": definition("carts", "Cart", "v1", "v2")["spec"]})
    await cluster.client.raw("PATCH", f"{DEFINITIONS}/carts.shops.dev", body=body, headers=MERGE)
    await cluster.advance(30)
    assert [resource_of(each).version for each in audit.kinds.kinds] == ["v2"]


async def test_a_mapper_that_fails_costs_one_object(cluster: InProcessCluster) -> None:
    audit = Audit()
    await install(cluster, definition("carts", "Cart", "v1"))
    await make(cluster, CARTS, "odd")
    await make(cluster, CARTS, "plain")
    await cluster.run(audit.manager)
    await cluster.advance(30)
    assert audit.seen == ["plain"]


@pytest.mark.parametrize("pattern", ["", "carts", "a b.dev", "x/y.dev"])
def test_what_is_no_pattern_of_kinds_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match="matches no kind"):
        MatchingKinds(pattern, to=lambda obj: ())
