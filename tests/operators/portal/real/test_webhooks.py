"""Portal Expose as it is installed: two replicas in pods, whose webhooks the API server asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec
import pytest

import patience
from quintant.api.admission import ValidatingWebhookConfiguration
from quintant.api.apps import Deployment
from quintant.api.core import Secret
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.cluster.kubelet.options import NodeOptions as Node
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from quintant.core.codec import to_plain
from quintant.core.errors import Invalid
from quintant.demo.systems import systems
from quintant.operators.portal.api import PortalExpose
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.manifests import Applier
from testbeds.portal import exposing

EXPOSES = "/apis/portal.gosuda.org/v1alpha1/namespaces/default/portalexposes"
HOME = "portal-system"
CONFIGURATION = "portal-validating-webhook-configuration"
REPLICAS = 2
PATIENCE_SECONDS = 90.0


@asynccontextmanager
async def installed() -> AsyncIterator[Client]:
    """A cluster in which everything was applied that comes with the operator."""
    plan = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(0), node=Node())
    async with run_cluster(plan) as cluster:
        cluster.server.tokens.add("test", admin("test"))
        client = Client(Rest(InProcessTransport(cluster.server, "test")), manager="test")
        (system,) = systems({"portal"})
        program = replace(system.program, replicas=REPLICAS)
        await Applier(client.rest, "test").apply(replace(system, program=program).installation())
        await client.wait_for(
            Deployment, "portal", HOME, timeout=patience.seconds(PATIENCE_SECONDS),
            until=lambda it: it is not None and it.status.ready_replicas == REPLICAS,
        )  # fmt: skip
        yield client


def tangled() -> dict[str, Any]:
    """A PortalExpose that no schema refuses."""
    made = to_plain(exposing())
    made["spec"]["app"]["service"]["name"] = "Web_1"
    return made


async def bundles(client: Client) -> set[bytes]:
    found = await client.get(ValidatingWebhookConfiguration, CONFIGURATION)
    return {each.client_config.ca_bundle for each in found.webhooks}


async def test_mistakes_are_refused_over_https_with_keys_that_the_operator_made() -> None:
    async with installed() as client:
        for _ in range(10):  # every replica has the same keys, and each is asked at some time
            with pytest.raises(Invalid, match=r"denied the request: spec\.app\.service\.name"):
                await client.raw("POST", EXPOSES, body=msgspec.json.encode(tangled()))
        secret = await client.get(Secret, "portal-webhook-cert", HOME)
        (bundle,) = await bundles(client)
        assert bundle == secret.reveal("ca.crt")

        await client.delete(secret)
        async with patience.within(PATIENCE_SECONDS):
            while await bundles(client) == {bundle}:  # noqa: ASYNC110
                await asyncio.sleep(0.5)
        (both,) = await bundles(client)
        assert both.count(b"BEGIN CERTIFICATE") == 2
        with pytest.raises(Invalid):
            await client.raw("POST", EXPOSES, body=msgspec.json.encode(tangled()))

        await client.delete(await client.get(ValidatingWebhookConfiguration, CONFIGURATION))
        await client.raw("POST", EXPOSES, body=msgspec.json.encode(tangled()))
        await client.wait_for(
            PortalExpose, "shop", "default", timeout=patience.seconds(PATIENCE_SECONDS),
            until=lambda it: bool(it and it.status and it.status.phase == "Failed"),
        )  # fmt: skip
