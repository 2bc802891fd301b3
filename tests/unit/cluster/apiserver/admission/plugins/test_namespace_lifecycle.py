from __future__ import annotations

from unit.cluster.api import Api, api, config_map

SPACES = "/api/v1/namespaces"
INSIDE = "/api/v1/namespaces/a/configmaps"


async def with_namespace() -> Api:
    client = api()
    await client.create(SPACES, {"metadata": {"name": "a"}})
    return client


async def test_a_cluster_begins_with_its_namespaces() -> None:
    names = await api().names(SPACES)
    assert names == ["default", "kube-node-lease", "kube-public", "kube-system"]


async def test_a_namespace_is_active_and_labelled_with_its_name() -> None:
    created = await (await with_namespace()).get(f"{SPACES}/a")
    assert created["metadata"]["labels"] == {"kubernetes.io/metadata.name": "a"}
    assert created["spec"] == {"finalizers": ["kubernetes"]}
    assert created["status"] == {"phase": "Active"}


async def test_deleted_namespace_stays_until_a_controller_has_emptied_it() -> None:
    client = await with_namespace()
    await client.create(INSIDE, config_map("x"))
    answer = await client.delete(f"{SPACES}/a")
    assert answer["status"] == {"phase": "Terminating"}
    assert "deletionGracePeriodSeconds" not in answer["metadata"]
    assert await client.names(INSIDE) == ["x"]
    assert (await client.get(f"{SPACES}/a"))["spec"] == {"finalizers": ["kubernetes"]}


async def test_nothing_is_created_in_a_namespace_that_is_being_deleted() -> None:
    client = await with_namespace()
    await client.delete(f"{SPACES}/a")
    refused = await client.create(INSIDE, config_map("y"), code=403)
    assert refused["message"] == (
        'configmaps "y" is forbidden: unable to create new content in namespace a because it is '
        "being terminated"
    )
    assert refused["details"]["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": "namespace a is being terminated",
            "field": "metadata.namespace",
        }
    ]
    await client.merge(f"{SPACES}/a", {"metadata": {"labels": {"x": "y"}}})


async def test_a_namespaces_own_finalizers_hold_it() -> None:
    client = api()
    await client.create(SPACES, {"metadata": {"name": "a", "finalizers": ["x.y/z"]}})
    await client.delete(f"{SPACES}/a")
    marked = await client.get(f"{SPACES}/a")
    finalized = await client.put(f"{SPACES}/a/finalize", {**marked, "spec": {}})
    assert finalized["spec"] == {}
    await client.merge(f"{SPACES}/a", {"metadata": {"finalizers": None}})
    await client.get(f"{SPACES}/a", code=404)


async def test_finalize_sets_what_holds_a_namespace() -> None:
    client = api()
    obj = {"metadata": {"name": "a"}, "spec": {"finalizers": ["x.y/z"]}}
    await client.create(SPACES, obj)
    await client.delete(f"{SPACES}/a")
    assert (await client.get(f"{SPACES}/a"))["spec"] == {"finalizers": ["x.y/z"]}
    await client.put(f"{SPACES}/a/finalize", {"metadata": {"name": "b"}}, code=400)
    await client.put(f"{SPACES}/a/finalize", {"metadata": {"name": "a"}})
    await client.get(f"{SPACES}/a", code=404)


async def test_some_namespaces_cannot_be_deleted() -> None:
    client = api()
    for name in ("default", "kube-system", "kube-public"):
        refused = await client.delete(f"{SPACES}/{name}", code=403)
        assert refused["message"].endswith("this namespace may not be deleted")


async def test_namespaces_are_not_deleted_together() -> None:
    client = api()
    await client.ask("DELETE", SPACES, None, 405, fieldSelector="metadata.name=default")
    assert "default" in await client.names(SPACES)


async def test_the_name_of_a_namespace_is_a_label() -> None:
    await api().create(SPACES, {"metadata": {"name": "a.b"}}, code=422)
