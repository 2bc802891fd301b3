"""Replicas share the keys of their webhooks, and show none that API servers do not trust."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

import pytest
import pytest_asyncio
from cryptography import x509

from quintant.api.admission import ServiceReference, ValidatingWebhookConfiguration
from quintant.api.core import Secret
from quintant.client.rest import Rest
from quintant.client.transport import Transport
from quintant.core.errors import ApiError, Forbidden
from quintant.core.object import ObjectMeta, Request, replace
from quintant.keys.tls import KeyPair
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.runtime.webhook import Admission, WebhookDeclarations
from quintant.runtime.webhook.certificate_rotation import OVERLAP
from quintant.runtime.webhook.publish import ca_bundle_injector
from quintant.runtime.webhook.secret_certificates import SecretCertificates, service_names
from quintant.testing import GrantedAccount, InProcessCluster, grant
from quintant.testing.faults.match import kind, writes
from unit.runtime.webhook.kinds import Gate, authorities

HOME = Request("gates-webhook-cert", "default")
CONFIGURATION = "gates-validating-webhook-configuration"
SERVICE = ServiceReference(name="gates", namespace="default")
DAY = timedelta(days=1)
YEARS = 3


async def allow(_old: Gate | None, _new: Gate | None, _: Admission) -> None:
    """Anything goes."""


@dataclass
class Home:
    """A cluster in which a program with webhooks is installed."""

    cluster: InProcessCluster
    webhooks: WebhookDeclarations
    account: GrantedAccount
    transport: Transport
    trusted: dict[bytes, datetime] = field(default_factory=dict)
    """Since when each authority has been trusted without a break."""

    def replica(self) -> SecretCertificates:
        """A replica that starts now, under its generated role."""
        client = Client(Rest(self.transport), manager="gates-webhooks")
        publish = ca_bundle_injector(self.webhooks, SERVICE, client)
        names = service_names("gates", "default")
        return SecretCertificates(
            HOME, names, client=client, clock=self.cluster.clock, publish=publish
        )

    async def bundle(self) -> list[bytes]:
        """Whom an API server trusts."""
        found = await self.cluster.get(ValidatingWebhookConfiguration, CONFIGURATION, "")
        (bundle,) = {each.client_config.ca_bundle for each in found.webhooks}
        return authorities(bundle)

    async def look(self) -> None:
        """Note whom an API server trusts now."""
        now = self.cluster.clock.now()
        self.trusted = {each: self.trusted.get(each, now) for each in await self.bundle()}

    async def secret(self) -> Secret:
        return await self.cluster.get(Secret, HOME.name, HOME.namespace)


@pytest_asyncio.fixture
async def home() -> AsyncIterator[Home]:
    cluster = InProcessCluster(rbac=True)
    manager = Manager("gates", webhook_secret=HOME.name)
    manager.webhooks.validating(Gate, allow)
    account = await grant(cluster, manager)
    for configuration in manager.webhooks.configurations(SERVICE):
        await cluster.client.create(configuration)
    transport = cluster.environment(account.credentials).transport
    yield Home(cluster, manager.webhooks, account, transport)
    assert not account.denied()
    await cluster.close()


def signer(pair: KeyPair, known: list[bytes]) -> bytes:
    """The authority that vouches for a certificate."""
    shown = x509.load_pem_x509_certificate(pair.certificate.reveal())
    (found,) = [each for each in known if _vouches(each, shown)]
    return found


def _vouches(authority: bytes, shown: x509.Certificate) -> bool:
    above = x509.load_pem_x509_certificate(authority)
    key = x509.SubjectKeyIdentifier
    wanted = shown.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value
    return above.extensions.get_extension_for_class(key).value.digest == wanted.key_identifier


def test_names_of_a_service_end_with_the_one_that_api_servers_use() -> None:
    assert service_names("hooks", "town")[-1] == "hooks.town.svc"


async def test_first_replica_makes_the_keys_and_the_second_shows_the_same(home: Home) -> None:
    first, second = await home.replica().poll(), await home.replica().poll()
    assert first is not None
    assert first == second
    secret = await home.secret()
    assert secret.type == "kubernetes.io/tls"
    assert secret.reveal("tls.crt") == first.certificate.reveal()


async def test_of_two_replicas_that_start_at_once_one_is_first(home: Home) -> None:
    both = await asyncio.gather(*(home.replica().poll() for _ in range(5)))
    assert len({pair.certificate.reveal() for pair in both if pair}) == 1


async def test_api_servers_are_told_whom_to_trust_and_nothing_is_written_at_rest(
    home: Home,
) -> None:
    replica = home.replica()
    pair = await replica.poll()
    assert pair is not None
    assert await replica.poll() is None
    signer(pair, await home.bundle())
    before = len(home.cluster.faults.seen(writes))
    for _ in range(10):
        assert await replica.poll() is None
    assert len(home.cluster.faults.seen(writes)) == before


async def test_over_years_no_replica_shows_what_is_not_trusted_or_has_run_out(home: Home) -> None:
    random, shown = Random(7), dict[int, KeyPair]()
    replicas = {at: home.replica() for at in range(3)}
    end, changes = home.cluster.clock.now() + YEARS * 365 * DAY, 0
    while home.cluster.clock.now() < end:
        at = random.randrange(3)
        if random.random() < 0.01:  # it is replaced, and comes up with nothing in memory
            replicas[at] = home.replica()
        pair = await replicas[at].poll()
        await home.look()
        now = home.cluster.clock.now()
        if pair is not None and pair != shown.get(at):
            changes += bool(shown)
            shown[at] = pair
        for held in shown.values() if len(home.trusted) else ():
            authority = signer(held, list(home.trusted))
            assert x509.load_pem_x509_certificate(authority).not_valid_after_utc > now
        if pair is not None and changes > 3:
            assert now - home.trusted[signer(pair, list(home.trusted))] >= OVERLAP
        await asyncio.sleep(random.choice([10, 400, 86_400, 200_000]))
    assert changes > YEARS * 6 * 2


async def test_nothing_moves_on_while_nobody_can_be_told(home: Home) -> None:
    replica = home.replica()
    first = await replica.poll()
    await replica.poll()
    await asyncio.sleep((61 * DAY).total_seconds())
    with home.cluster.faults.answer(503, when=kind(ValidatingWebhookConfiguration)):
        for _ in range(3):
            with pytest.raises(ApiError):
                await replica.poll()
            await asyncio.sleep(OVERLAP.total_seconds())
    assert first is not None
    assert (await home.secret()).reveal("tls.crt") == first.certificate.reveal()
    assert await replica.poll() is None
    assert len(await home.bundle()) == 2
    await asyncio.sleep(OVERLAP.total_seconds())
    assert await replica.poll() is not None


async def test_deleted_secret_brings_new_keys_after_the_old_ones(home: Home) -> None:
    replica = home.replica()
    first = await replica.poll()
    await asyncio.sleep(60)
    await home.cluster.client.delete(await home.secret())
    assert await replica.poll() is None
    assert first is not None
    assert (await home.secret()).reveal("tls.crt") == first.certificate.reveal()
    assert len(await home.bundle()) == 2
    await asyncio.sleep(OVERLAP.total_seconds())
    second = await replica.poll()
    assert second is not None
    signer(second, await home.bundle())


@pytest.mark.parametrize("key", ["tls.crt", "tls.key", "ca.crt"])
async def test_spoilt_secret_is_written_anew(home: Home, key: str) -> None:
    await home.replica().poll()
    found = await home.secret()
    spoilt = replace(found, data={**found.data, key: "bm9uc2Vuc2U="})
    await home.cluster.client.patch(spoilt, since=found)
    replica = home.replica()
    pair = await replica.poll()
    assert pair is not None
    await replica.poll()
    signer(pair, await home.bundle())
    assert (await home.secret()).reveal("tls.crt") == pair.certificate.reveal()


async def test_removed_bundle_is_put_back(home: Home) -> None:
    replica = home.replica()
    await replica.poll()
    await replica.poll()
    before = await home.bundle()
    found = await home.cluster.get(ValidatingWebhookConfiguration, CONFIGURATION, "")
    where = {"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}
    await home.cluster.client.json_patch(ValidatingWebhookConfiguration, found.metadata, [where])
    assert await home.bundle() == []
    await replica.poll()
    assert await home.bundle() == before


async def test_program_works_where_nobody_installed_its_configuration(home: Home) -> None:
    found = await home.cluster.get(ValidatingWebhookConfiguration, CONFIGURATION, "")
    await home.cluster.client.delete(found)
    replica = home.replica()
    assert await replica.poll() is not None
    assert await replica.poll() is None


async def test_role_reaches_no_other_secret_and_no_other_configuration() -> None:
    cluster = InProcessCluster(rbac=True)
    manager = Manager("gates", webhook_secret=HOME.name)
    manager.webhooks.validating(Gate, allow)
    account = await grant(cluster, manager)
    client = Client(Rest(cluster.environment(account.credentials).transport), manager="gates")
    other = Secret(metadata=ObjectMeta(name="other", namespace="default"))
    with pytest.raises(Forbidden):
        await client.apply(other)
    with pytest.raises(Forbidden):
        await client.create(replace(other, metadata=replace(other.metadata, name=HOME.name)))
    with pytest.raises(Forbidden):
        await client.get(Secret, "other", "default", live=True)
    with pytest.raises(Forbidden):
        await client.get(ValidatingWebhookConfiguration, "other", live=True)
    await cluster.close()
