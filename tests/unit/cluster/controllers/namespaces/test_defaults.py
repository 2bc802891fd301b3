"""Every namespace has a default service account and the certificate to trust."""

from __future__ import annotations

from quintant.cluster.controllers.namespaces.defaults import declare, publishing
from unit.cluster.api import Api
from unit.cluster.controllers.running_controllers import controlled, until

SPACES = "/api/v1/namespaces"
CERTIFICATE = b"-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"
BUNDLE = "kube-root-ca.crt"


async def data(api: Api) -> dict[str, str]:
    reply = await api.send("GET", f"{SPACES}/default/configmaps/{BUNDLE}")
    if reply.status != 200:
        return {}
    found: dict[str, str] = (await api.get(f"{SPACES}/default/configmaps/{BUNDLE}"))["data"]
    return found


async def test_namespaces_old_and_new_have_an_account() -> None:
    async with controlled(declare) as api:
        await api.create(SPACES, {"metadata": {"name": "a"}})
        for namespace in ("a", "default", "kube-system"):
            path = f"{SPACES}/{namespace}/serviceaccounts"
            assert await until(lambda path=path: api.names(path)) == ["default"]  # type: ignore[misc]


async def test_deleted_account_comes_back() -> None:
    async with controlled(declare) as api:
        path = f"{SPACES}/default/serviceaccounts"
        await until(lambda: api.names(path))
        before = (await api.get(f"{path}/default"))["metadata"]["uid"]
        await api.create(path, {"metadata": {"name": "other"}})
        await api.delete(f"{path}/other")
        await api.delete(f"{path}/default")
        assert await until(lambda: api.names(path)) == ["default"]
        assert (await api.get(f"{path}/default"))["metadata"]["uid"] != before


async def test_namespace_that_is_going_gets_nothing_new() -> None:
    async with controlled(declare) as api:
        await api.create(SPACES, {"metadata": {"name": "a"}})
        path = f"{SPACES}/a/serviceaccounts"
        await until(lambda: api.names(path))
        await api.delete(f"{SPACES}/a")
        await api.delete(f"{path}/default")
        assert await api.names(path) == []


async def test_certificate_is_published_and_put_right() -> None:
    wanted = {"ca.crt": CERTIFICATE.decode()}
    async with controlled(publishing(CERTIFICATE)) as api:
        assert await until(lambda: data(api)) == wanted
        path = f"{SPACES}/default/configmaps/{BUNDLE}"
        await api.merge(path, {"data": {"ca.crt": "forged", "other": "x"}})
        await until(lambda: data(api), lambda found: found == wanted)
        await api.delete(path)
        assert await until(lambda: data(api)) == wanted
        annotations = (await api.get(path))["metadata"]["annotations"]
        assert "kubernetes.io/description" in annotations
