"""On a real kube-apiserver: the client of programs in pods, as an account with a real token."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

import pytest

import patience
from envtest import RealCluster
from node.test_agents import Device, DeviceSpec
from quintant import Client, Config, ObjectMeta
from quintant.agents.apiclient.client import ApiClient
from quintant.agents.apiclient.errors import ApiRefused
from quintant.agents.apiclient.object_path import ObjectPath
from quintant.agents.apiclient.pod_account import PodAccount
from quintant.api.core import Namespace, ServiceAccount
from quintant.api.rbac import GROUP, PolicyRule, Role, RoleBinding, RoleRef, Subject
from quintant.client.http.transport import HttpTransport
from quintant.runtime.manager.install_crds import install_crds
from testbeds.mounted_account import mounted_account

pytestmark = pytest.mark.realtime

PLACE = "apiclient-under-test"
CAMERA = ObjectPath("demo.dev/v1", "Device", "devices", "camera", PLACE)


async def grant(client: Client) -> None:
    """What docs/agents.md says, and nothing else."""
    meta = ObjectMeta(name="agent", namespace=PLACE)
    one = {"api_groups": ("demo.dev",), "resource_names": ("camera",)}
    rules = (
        PolicyRule(**one, resources=("devices",), verbs=("get", "watch")),
        PolicyRule(**one, resources=("devices/status",), verbs=("patch",)),
    )
    account = Subject(kind="ServiceAccount", name="agent", namespace=PLACE)
    ref = RoleRef(api_group=GROUP, kind="Role", name="agent")
    await client.apply(Namespace(metadata=ObjectMeta(name=PLACE)))
    await client.apply(ServiceAccount(metadata=meta))
    await client.apply(Role(metadata=meta, rules=rules))
    await client.apply(RoleBinding(metadata=meta, role_ref=ref, subjects=(account,)))


async def test_object_is_followed_and_its_status_told(
    real_cluster: RealCluster, transport: HttpTransport, client: Client, tmp_path: Path
) -> None:
    await install_crds(transport, [Device])
    await grant(client)
    config = Config.load(real_cluster.kubeconfig)
    environ = await mounted_account(config, client, "agent", PLACE, tmp_path)
    async with (
        patience.within(30),
        ApiClient(PodAccount.find(environ)) as agent,
        aclosing(aiter(agent.watch(CAMERA))) as states,
    ):
        assert await anext(states) is None
        meta = ObjectMeta(name="camera", namespace=PLACE)
        await client.apply(Device(metadata=meta, spec=DeviceSpec(lens="wide")))
        found = await anext(states)
        assert found is not None
        assert found["spec"] == {"lens": "wide"}
        applied = await agent.apply_status(CAMERA, {"seen": 1}, manager="agent")
        assert applied["status"] == {"seen": 1}
        merged = await agent.merge_status(CAMERA, {"seen": 2}, manager="agent")
        assert [await anext(states), await anext(states)] == [applied, merged]
        assert await agent.get(CAMERA) == merged
        await client.delete(await client.get(Device, "camera", PLACE))
        assert await anext(states) is None
        with pytest.raises(ApiRefused, match="403 Forbidden"):
            await agent.get(CAMERA._replace(name="other"))
