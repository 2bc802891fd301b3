"""On a real kube-apiserver: replicas share keys under a role that reaches nothing else.

The role is the generated one, and the server's own RBAC decides.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
import pytest_asyncio
from msgspec import structs

from envtest import RealCluster
from quintant import Client, Config
from quintant.api.admission import ValidatingWebhookConfiguration
from quintant.api.core import ConfigMap, Secret
from quintant.api.meta import LabelSelector
from quintant.client.config.user import Impersonate
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.core.errors import ApiError, Forbidden
from quintant.core.object import ObjectMeta, Request
from quintant.runtime.manager.rbac import manager_rbac
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.settings import Settings
from quintant.runtime.webhook import Admission, Denied, Verdict, WebhookDeclarations
from quintant.runtime.webhook import WebhookSettings as HookSettings
from quintant.runtime.webhook.certificate_rotation import OVERLAP
from quintant.runtime.webhook.publish import ca_bundle_injector
from quintant.runtime.webhook.secret_certificates import SecretCertificates
from quintant.runtime.webhook.selfsigned import LAPTOP
from quintant.runtime.webhook.server import WebhookServer
from real.test_webhook_real import LOAD_SECONDS, ShiftedClock, eventually
from testbeds.ports import free_port

pytestmark = pytest.mark.realtime

NAME = "keys-under-test"
SECRET = f"{NAME}-webhook-cert"
CONFIGURATION = f"{NAME}-validating-webhook-configuration"
HOME = Request(SECRET, "default")


async def judge(_old: ConfigMap | None, new: ConfigMap | None, _: Admission) -> Verdict:
    return Denied("not bad") if new and new.data.get("is") == "bad" else None


def note(name: str, text: str) -> ConfigMap:
    labels = {"judged": "yes"}
    meta = ObjectMeta(name=name, namespace="default", labels=labels)
    return ConfigMap(metadata=meta, data={"is": text})


@dataclass
class Installed:
    """Webhooks that an administrator registered, and the account of the program behind them."""

    admin: Client
    account: Client
    webhooks: WebhookDeclarations
    clock: ShiftedClock
    port: int

    @asynccontextmanager
    async def replica(self, port: int) -> AsyncIterator[WebhookServer]:
        publish = ca_bundle_injector(self.webhooks, self.place, self.account)
        source = SecretCertificates(
            HOME, LAPTOP, client=self.account, clock=self.clock, publish=publish
        )
        server = WebhookServer(self.webhooks, client=self.account, metrics=Metrics(), source=source)
        async with server.serve(f"127.0.0.1:{port}"):
            yield server

    @property
    def rehearsing(self) -> Client:
        """An administrator whose writes are judged, and not kept."""
        return replace(self.admin, dry_run=True)

    @property
    def place(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    async def refused(self) -> bool:
        try:
            await self.rehearsing.create(note("probe", "bad"))
        except ApiError as error:
            return "not bad" in error.message
        return False


@pytest_asyncio.fixture
async def installed(real_cluster: RealCluster, client: Client) -> AsyncIterator[Installed]:
    config = Config.load(real_cluster.kubeconfig)
    user = Impersonate(user=f"system:serviceaccount:default:{NAME}")
    transport = HttpTransport(
        structs.replace(config, user=structs.replace(config.user, impersonate=user))
    )
    account = Client(Rest(transport), manager=f"{NAME}-webhooks")
    webhooks = WebhookDeclarations(NAME)
    judged = HookSettings(object_selector=LabelSelector(match_labels={"judged": "yes"}))
    webhooks.validating(ConfigMap, judge, settings=judged)
    port = free_port()
    for obj in manager_rbac(
        Settings(NAME, webhook_secret=SECRET), [], "default", webhooks.targets()
    ):
        await client.apply(obj)
    (configuration,) = webhooks.configurations(f"https://127.0.0.1:{port}")
    await client.apply(configuration)
    yield Installed(client, account, webhooks, ShiftedClock(), port)
    await client.delete(await client.get(ValidatingWebhookConfiguration, CONFIGURATION))
    await transport.close()


async def test_replicas_share_keys_that_the_server_trusts(installed: Installed) -> None:
    other = free_port()
    async with AsyncExitStack() as stack:
        for port in (installed.port, other):
            await stack.enter_async_context(installed.replica(port))
        await eventually(installed.refused)
        shown = {
            await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", port))
            for port in (installed.port, other)
        }
        assert len(shown) == 1


async def test_no_admission_fails_while_shared_keys_are_replaced(installed: Installed) -> None:
    found = await installed.admin.find(Secret, SECRET, "default")
    if found is not None:
        await installed.admin.delete(found)
    installed.clock.offset = -timedelta(days=61)
    failures: list[str] = []

    async def load() -> None:
        while True:
            try:
                await installed.rehearsing.create(note("load", "good"))
            except ApiError as error:
                failures.append(error.message)

    async with installed.replica(installed.port) as server, asyncio.TaskGroup() as group:
        await eventually(installed.refused)
        before = await installed.admin.get(Secret, SECRET, "default")
        tasks = [group.create_task(load())]
        for offset in (timedelta(), OVERLAP):
            installed.clock.offset = offset
            await server.certificates.refresh()
            tasks += [group.create_task(load()) for _ in range(3)]
            await asyncio.sleep(LOAD_SECONDS)
        for task in tasks:
            task.cancel()
    after = await installed.admin.get(Secret, SECRET, "default")
    assert before.reveal("tls.crt") == after.reveal("other.crt") != after.reveal("tls.crt")
    assert failures == []


async def test_role_creates_no_other_secret_and_this_one_only_by_applying(
    installed: Installed,
) -> None:
    mine = Secret(metadata=ObjectMeta(name=SECRET, namespace="default"))
    other = Secret(metadata=ObjectMeta(name="other", namespace="default"))
    for attempt in (
        installed.account.apply(other),
        installed.account.create(mine),
        installed.account.get(Secret, "other", "default"),
        installed.account.list(Secret, "default"),
        installed.account.get(ValidatingWebhookConfiguration, "other"),
    ):
        with pytest.raises(Forbidden):
            await attempt
