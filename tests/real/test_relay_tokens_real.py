"""A relay follows its tokens on a real kube-apiserver: whoever loses one is out within 5 s."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from envtest import RealCluster
from quintant import Client, Config
from quintant.agents.relay.tunnel.tokens import digest
from quintant.api.core import Namespace, Secret, ServiceAccount
from quintant.api.rbac import GROUP, PolicyRule, Role, RoleBinding, RoleRef, Subject
from quintant.core.object import ObjectMeta
from testbeds.mounted_account import mounted_account
from testbeds.relays import RelayTestbed, asked, opened, request, saying

pytestmark = pytest.mark.realtime

PLACE, NAME = "relay-under-test", "relay-tokens"
PROMISED_SECONDS = 5.0


async def grant(client: Client) -> None:
    """What docs/portal-data-plane.md says, and nothing else."""
    meta = ObjectMeta(name="relay", namespace=PLACE)
    rule = PolicyRule(
        api_groups=("",), resources=("secrets",), resource_names=(NAME,), verbs=("get", "watch")
    )
    account = Subject(kind="ServiceAccount", name="relay", namespace=PLACE)
    ref = RoleRef(api_group=GROUP, kind="Role", name="relay")
    await client.apply(Namespace(metadata=ObjectMeta(name=PLACE)))
    await client.apply(ServiceAccount(metadata=meta))
    await client.apply(Role(metadata=meta, rules=(rule,)))
    await client.apply(RoleBinding(metadata=meta, role_ref=ref, subjects=(account,)))


async def allow(client: Client, **names: list[str]) -> None:
    """Write the list of tokens, each with its names."""
    entries = [
        {"sha256": digest(token), "subject": token, "names": allowed}
        for token, allowed in names.items()
    ]
    text = msgspec.json.encode({"tokens": entries}).decode()
    meta = ObjectMeta(name=NAME, namespace=PLACE)
    await client.apply(Secret(metadata=meta, string_data={"tokens.json": text}))


@pytest_asyncio.fixture
async def testbed(
    real_cluster: RealCluster, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[RelayTestbed]:
    await grant(client)
    await allow(client, right=["hello"], other=["other"])
    account = tmp_path / "account"
    account.mkdir()
    config = Config.load(real_cluster.kubeconfig)
    for name, value in (await mounted_account(config, client, "relay", PLACE, account)).items():
        monkeypatch.setenv(name, value)
    async with opened(tmp_path / "relay") as found:
        yield found


async def test_a_revoked_token_ends_its_live_session_and_no_other(
    testbed: RelayTestbed, client: Client
) -> None:
    relay = await testbed.relay(tokens_secret=NAME)
    port = await testbed.service(saying("here"))
    hello = testbed.tunnel("hello", port, testbed.target(relay, token="right"))
    other = testbed.tunnel("other", port, testbed.target(relay, token="other"))
    await asyncio.gather(hello.connected(), other.connected())
    assert (await asked(relay, request("hello"))).endswith(b"here")

    began = time.monotonic()
    await allow(client, other=["other"])
    told = await hello.until(lambda told: told.relays[0].state != "Connected")
    assert time.monotonic() - began < PROMISED_SECONDS
    assert told.relays[0].close_code == 4401
    assert b" 503 " in (await asked(relay, request("hello")))[:20]
    assert (await other.report()).relays[0].state == "Connected"

    began = time.monotonic()
    await client.delete(await client.get(Secret, NAME, PLACE))
    await other.until(lambda told: told.relays[0].state != "Connected")
    assert time.monotonic() - began < PROMISED_SECONDS, "a list that is gone allows nobody"

    await allow(client, right=["hello"], other=["other"])
    await asyncio.gather(hello.connected(), other.connected())
