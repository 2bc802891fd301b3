"""What users of kubernetes_asyncio do: objects, patch, list, watch, the dynamic client."""

# mypy: ignore-errors

import asyncio

from kubernetes_asyncio import client, config, watch
from kubernetes_asyncio.client import ApiException
from kubernetes_asyncio.dynamic import DynamicClient


async def main() -> None:
    await config.load_kube_config()
    async with client.ApiClient() as api:
        core = client.CoreV1Api(api)
        body = {"metadata": {"name": "a"}, "data": {"k": "v"}}
        await core.create_namespaced_config_map("default", body)
        await core.patch_namespaced_config_map("a", "default", {"data": {"k": "w"}})
        assert (await core.read_namespaced_config_map("a", "default")).data == {"k": "w"}
        listed = await core.list_namespaced_config_map("default")
        assert "a" in {each.metadata.name for each in listed.items}

        async with watch.Watch().stream(core.list_namespaced_config_map, "default") as events:
            async for event in events:
                assert event["type"] == "ADDED"
                break

        dynamic = await DynamicClient(api)
        maps = await dynamic.resources.get(api_version="v1", kind="ConfigMap")
        applied = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "b"},
            "data": {"k": "v"},
        }
        made = await maps.server_side_apply(
            body=applied, name="b", namespace="default", field_manager="interop"
        )
        assert made.metadata.managedFields[0].manager == "interop"

        await core.delete_namespaced_config_map("a", "default")
        try:
            await core.read_namespaced_config_map("a", "default")
            raise SystemExit("a is still there")
        except ApiException as error:
            if error.status != 404:
                raise
    print("done")


asyncio.run(main())
