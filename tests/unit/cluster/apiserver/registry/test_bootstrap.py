from __future__ import annotations

import pytest

from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock
from unit.cluster.api import CMS, Api, config_map
from unit.cluster.rbac_server import CLUSTER, LOCAL, RbacServer, binding, rule, subject

SECRETS = "/api/v1/namespaces/default/secrets"
ROLE = {"metadata": {"name": "a"}, "rules": [rule("get", "pods")]}


@pytest.mark.parametrize(
    ("role", "reads", "writes", "secrets", "roles"),
    [
        ("view", 200, 403, 403, 403),
        ("edit", 200, 201, 200, 403),
        ("admin", 200, 201, 200, 201),
        ("cluster-admin", 200, 201, 200, 201),
    ],
)
async def test_the_usual_roles_allow_what_everybody_expects(
    role: str, reads: int, writes: int, secrets: int, roles: int
) -> None:
    rbac = RbacServer()
    user = rbac.user("ann")
    bound = binding("b", "ClusterRole", role, subject("ann"))
    await rbac.root.create(f"{LOCAL}/rolebindings", bound)
    assert (await user.send("GET", CMS)).status == reads
    assert (await user.send("POST", CMS, config_map("a"))).status == writes
    assert (await user.send("GET", SECRETS)).status == secrets
    assert (await user.send("POST", f"{LOCAL}/roles", ROLE)).status == roles
    assert (await user.send("GET", "/api/v1/configmaps")).status == 403


async def test_what_is_there_already_is_left_alone() -> None:
    rbac = RbacServer()
    await rbac.root.merge(f"{CLUSTER}/clusterroles/view", {"metadata": {"labels": {"a": "b"}}})
    await rbac.root.create(CMS, config_map("a"))
    store = rbac.server.store
    before = store.revision
    again = ApiServer(clock=LoopClock(), store=store)
    assert store.revision == before
    view = await Api(again).get(f"{CLUSTER}/clusterroles/view")
    assert view["metadata"]["labels"]["a"] == "b"
    assert await Api(again).names(CMS) == ["a"]
