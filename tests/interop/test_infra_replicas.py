"""Two replicas of infra beside the real Infrastructure Manager: the leader is killed at work.

Scenario 16. All are processes of their own, and die as a crash would. `make soak` kills 20 leaders,
the usual run three, half of them while an infrastructure is made and half while it is changed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

import patience
from infrastructure_manager import DummyFaults, InfrastructureManager
from quintant import Client, Config
from quintant.api.core import Secret
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from quintant.core.object import ObjectMeta
from quintant.core.secret_hosts import url_host
from quintant.operators.infra.api import HOSTS, Cluster
from quintant.runtime.manager.install_crds import install_crds
from testbeds.infra import KINDS
from testbeds.infra_real import machines_of
from testbeds.infrastructures import dummy_template, eventually
from testbeds.provider_proxy import Fault, FaultKind, ProviderProxy, is_create, is_update

KILLS = 20 if os.environ.get("QUINTANT_SOAK") else 3
ROOT = "/apis/infra.quintant.dev/v1alpha1/namespaces/default"
SETTINGS = {"DUMMY_CLOUDS": "true", "POLL_MIN": "1s", "OBSERVE_INTERVAL": "5s"}
LEADS = b"acquired lease"
# A lease is fifteen seconds, a request of an unknown outcome settles within a minute.
ONLINE_SECONDS = 240.0

Plain = dict[str, Any]


@dataclass
class Replicas:
    """Processes of the operator, one of which leads: whoever was faster when a lease had ended."""

    kubeconfig: Path
    living: list[tuple[Process, Path]] = field(default_factory=list)
    started: int = 0

    async def start(self) -> None:
        """Start one more."""
        log = self.kubeconfig.with_name(f"replica-{self.started}.log")
        self.started += 1
        flags = (f"--kubeconfig={self.kubeconfig}", "--metrics=", "--probes=", "--leader-elect")
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "quintant", "operator", "infra", *flags,
                env={**os.environ, **SETTINGS}, stdout=output, stderr=output,
            )  # fmt: skip
        self.living.append((process, log))

    async def led(self) -> None:
        """Wait until there is a leader."""

        async def leads() -> bool:
            return any(map(_leads, self.living))

        await eventually(leads)

    async def kill(self) -> None:
        """Kill the leader, or anybody if there is none."""
        found = next(filter(_leads, self.living), self.living[0])
        self.living.remove(found)
        process, _ = found
        process.kill()
        await process.wait()


def _leads(replica: tuple[Process, Path]) -> bool:
    return LEADS in replica[1].read_bytes()


@asynccontextmanager
async def replicas(kubeconfig: Path) -> AsyncIterator[Replicas]:
    """A leader and a standby."""
    found = Replicas(kubeconfig)
    try:
        await found.start()
        await found.led()
        await found.start()
        yield found
    finally:
        while found.living:
            await found.kill()


@asynccontextmanager
async def management_cluster(folder: Path) -> AsyncIterator[tuple[Client, Path]]:
    """A cluster with the kinds of infra; it is also the cluster that every template leads to."""
    config = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(1))
    async with run_cluster(config) as cluster:
        way = folder / "kubeconfig"
        save_kubeconfig(cluster, way)
        transport = HttpTransport(Config.load(way))
        try:
            await install_crds(transport, list(KINDS))
            yield Client(Rest(transport), manager="tests"), way
        finally:
            await transport.close()


async def create(client: Client, kind: str, name: str, spec: Plain) -> None:
    head = {"apiVersion": "infra.quintant.dev/v1alpha1", "kind": kind}
    body = {**head, "metadata": {"name": name, "namespace": "default"}, "spec": spec}
    headers = {"Content-Type": "application/json"}
    path = f"{ROOT}/{kind.lower()}s"
    await client.raw("POST", path, body=msgspec.json.encode(body), headers=headers)


async def prepare(client: Client, url: str) -> None:
    """A provider at a URL, as a user of its own, and a cloud."""
    labels = {"infra.quintant.dev/watch": "true"}
    hosts = {HOSTS: url_host(url)}
    meta = ObjectMeta(name="im", namespace="default", labels=labels, annotations=hosts)
    word = {"username": f"us-{uuid4().hex}", "password": "of replicas"}
    await client.apply(Secret(metadata=meta, string_data=word))
    im = {"url": url, "credentialsSecretRef": {"name": "im"}}
    await create(client, "InfrastructureProvider", "im", {"type": "im", "im": im})
    await create(client, "Cloud", "here", {"type": "dummy", "providerRef": {"name": "im"}})


async def online(client: Client, name: str, machines: int) -> None:
    """Wait until a Cluster is ONLINE with so many machines."""

    def reached(it: Cluster | None) -> bool:
        status = it.status if it is not None else None
        if status is None or status.infrastructure is None:
            return False
        return status.state == "ONLINE" and len(status.infrastructure.vms) == machines

    limit = patience.seconds(ONLINE_SECONDS)
    await client.wait_for(Cluster, name, "default", until=reached, timeout=limit)


async def test_16_soak_of_leaders_that_are_killed_in_mid_request(
    dummy_manager: InfrastructureManager, provider_proxy: ProviderProxy, tmp_path: Path
) -> None:
    async with management_cluster(tmp_path) as (client, way), replicas(way) as operators:
        await prepare(client, provider_proxy.url)
        kubeconfig = await asyncio.to_thread(way.read_text)
        dummy_manager.set_faults(DummyFaults(launch_delay=2))
        try:
            for number in range(KILLS):
                name = f"c{number // 2}"
                await _round(client, kubeconfig, operators, provider_proxy, name, number % 2)
        finally:
            dummy_manager.set_faults()
        made = [f"c{number}" for number in range((KILLS + 1) // 2)]
        assert provider_proxy.creates == len(made)
        machines = sum(4 if 2 * number + 1 < KILLS else 2 for number in range(len(made)))
        assert len(machines_of(dummy_manager, provider_proxy)) == machines
        for name in made:
            await client.delete(await client.get(Cluster, name, "default"))
        limit = patience.seconds(ONLINE_SECONDS)
        for name in made:
            gone = await client.wait_for(
                Cluster, name, "default", until=lambda it: it is None, timeout=limit
            )
            assert gone is None
    assert machines_of(dummy_manager, provider_proxy) == []


async def _round(
    client: Client,
    kubeconfig: str,
    operators: Replicas,
    proxy: ProviderProxy,
    name: str,
    update: int,
) -> None:
    """Kill the leader while IM does what it asked for; the standby ends it, and another comes."""
    await operators.led()
    when = is_update if update else is_create
    kind = FaultKind.CUT if update else FaultKind.LATE_ANSWER
    fault = proxy.inject(Fault(kind, when=when, times=1))
    if update:
        change = {"topology_template": {"inputs": {"workers": {"default": 3}}}}
        await client.raw(
            "PATCH",
            f"{ROOT}/clusters/{name}",
            body=msgspec.json.encode({"spec": {"tosca": change}}),
            headers={"Content-Type": "application/merge-patch+json"},
        )
    else:
        tosca = msgspec.json.decode(dummy_template(kubeconfig))
        await create(client, "Cluster", name, {"tosca": tosca, "observer": {"interval": "2s"}})
    await asyncio.wait_for(fault.applied.wait(), patience.seconds(120))
    await operators.kill()
    fault.release.set()
    await operators.start()
    await online(client, name, 4 if update else 2)
