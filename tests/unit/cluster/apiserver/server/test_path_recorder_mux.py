"""Paths beside the API: for administrators, and for nobody whom a role makes one."""

from __future__ import annotations

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.meta.status import REQUEST_LIMIT
from quintant.cluster.apiserver.meta.user import User, admin
from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import Api, server

PATH = "/quintant/v1/test"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


async def echo(call: ApiRequest) -> ApiResponse:
    return ApiResponse(200, call.body or b"{}")


def serving(most: int = REQUEST_LIMIT) -> ApiServer:
    made = server(rbac=True)
    made.mux.handle(PATH, echo, most)
    made.tokens.add("root", admin("root"))
    made.tokens.add("alice", User("alice"))
    return made


async def test_a_role_for_every_path_does_not_suffice() -> None:
    made = serving()
    root, alice = Api(made, "root"), Api(made, "alice")
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"}
    binding = {"metadata": {"name": "alice"}, "roleRef": ref, "subjects": [subject]}
    await root.create(BINDINGS, binding)
    assert (await alice.send("GET", "/livez")).status == 200
    refused = await alice.get(PATH, code=403)
    assert refused["message"] == f'forbidden: User "alice" cannot get path "{PATH}"'
    assert await root.get(PATH) == {}
    assert [(each.resource, each.code) for each in made.audit.by("alice")][-1] == (PATH, 403)
    assert [(each.resource, each.code) for each in made.audit.by("root")][-1] == (PATH, 200)


async def test_strangers_are_refused_and_other_paths_are_not_there() -> None:
    made = serving()
    assert (await Api(made).send("PUT", PATH, b"{}")).status == 403
    assert (await Api(made, "root").send("GET", f"{PATH}/more")).status == 404


async def test_a_path_has_a_limit_of_its_own() -> None:
    root = Api(serving(most=REQUEST_LIMIT + 10), "root")
    assert (await root.send("PUT", PATH, b"x" * (REQUEST_LIMIT + 10))).status == 200
    assert (await root.send("PUT", PATH, b"x" * (REQUEST_LIMIT + 11))).status == 413
    assert (await root.send("PUT", "/version", b"x" * (REQUEST_LIMIT + 1))).status == 413
