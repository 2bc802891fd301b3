"""Whom to speak to about a Cluster, and as whom: its cloud, the cloud's provider, their Secrets.

A `ProviderSession` is everything that a call to a provider needs. It holds secrets, and is given
only to the remote; decisions see a `Binding`, which has the names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from quintant.api.core import Secret
from quintant.core.duration import parse_duration
from quintant.core.object import Object, Request
from quintant.core.resource import resource_of
from quintant.core.secret_hosts import annotate_command, named_hosts, url_host
from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.api import (
    HOSTS,
    AnyCloud,
    AnyProvider,
    Cloud,
    Cluster,
    GlobalCloud,
    GlobalInfrastructureProvider,
    InfrastructureProvider,
)
from quintant.operators.infra.api.cluster_status import CloudBinding
from quintant.operators.infra.api.names import CredentialsRef
from quintant.operators.infra.observe.secrets import Secrets
from quintant.operators.infra.observed.cluster import Binding, Unresolved, secret_value
from quintant.operators.infra.observed.session import ProviderSession, cloud_id
from quintant.operators.infra.options import Options
from quintant.runtime.cache.client import Client

SETTLE_LEAST = 60.0
"""Seconds within which a request whose answer was lost takes effect, or never."""


class Missing(Exception):
    """Something that is needed for a session is not there, or cannot be used."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.unresolved: Unresolved = Unresolved(reason, message)


@dataclass(frozen=True, slots=True)
class Resolver:
    """Finds what a Cluster, a Cloud or a provider names."""

    options: Options
    secrets: Secrets

    async def of_cluster(
        self, client: Client, cluster: Cluster
    ) -> tuple[Binding, ProviderSession] | Unresolved | None:
        """What a Cluster is bound to; None if it is bound to nothing."""
        status = cluster.status
        to = (status.running_on or status.scheduled_to) if status is not None else None
        if to is None:
            return None
        try:
            cloud = await self.cloud(client, to.kind, to.name, cluster.metadata.namespace)
            provider = await self.provider(client, cloud)
            found, _ = await self.session(client, provider, cloud)
        except Missing as error:
            return error.unresolved
        session = replace(found, deleting=cluster.deleting)
        settle = max(2 * session.timeout, SETTLE_LEAST)
        content = _content_hash(session, cloud, provider)
        return Binding(cloud, provider, snapshot(cloud, provider), content, settle), session

    async def cloud(self, client: Client, kind: str, name: str, namespace: str) -> AnyCloud:
        """The cloud of a name; Missing if there is none."""
        found: AnyCloud | None
        if kind == "GlobalCloud":
            found = await client.find(GlobalCloud, name)
        else:
            found = await client.find(Cloud, name, namespace)
        if found is None:
            raise Missing("CloudNotFound", f"{kind} {name} is not there")
        return found

    async def provider(self, client: Client, cloud: AnyCloud) -> AnyProvider:
        """The provider of a cloud; Missing if there is none."""
        ref, found = cloud.spec.provider_ref, None
        kind = ref.kind or "InfrastructureProvider"
        if kind == "GlobalInfrastructureProvider":
            found = await client.find(GlobalInfrastructureProvider, ref.name)
        elif cloud.metadata.namespace:
            found = await client.find(InfrastructureProvider, ref.name, cloud.metadata.namespace)  # type: ignore[assignment]
        if found is None:
            raise Missing("ProviderNotFound", f"{kind} {ref.name} is not there")
        return found

    async def session(
        self, client: Client, provider: AnyProvider, cloud: AnyCloud | None = None
    ) -> tuple[ProviderSession, str]:
        """A session with a provider, and what it was made of; Missing if a Secret is."""
        im = provider.spec.im
        if im is None:
            raise Missing("InvalidProvider", f"{provider.metadata.name} has no im")
        secret = await self._secret(client, provider, im.credentials_secret_ref)
        require_shared(secret, im.url)
        used: list[Object] = [provider, secret]
        authority = None
        if (bundle := im.ca_bundle_secret_ref) is not None:
            ref = CredentialsRef(name=bundle.name, namespace=bundle.namespace)
            held = await self._secret(client, provider, ref)
            used.append(held)
            authority = _value(held, bundle.key or "ca.crt")
        record = None
        if cloud is not None:
            used.append(cloud)
            record = await self._record(client, cloud, im.url, used)
        session = ProviderSession(
            url=im.url.rstrip("/"),
            user=_user(secret),
            cloud=record,
            cloud_id=cloud_id(cloud) if cloud is not None else "",
            authority=authority,
            insecure=im.insecure_skip_verify,
            timeout=min(parse_duration(im.request_timeout or "30s"), self.options.provider_timeout),
            limit=im.max_concurrent_requests or 8,
        )
        return session, _fingerprint(used)

    async def _record(
        self, client: Client, cloud: AnyCloud, provider: str, used: list[Object]
    ) -> Mapping[str, str | Sensitive[str]]:
        if cloud.spec.type == "dummy":
            if not self.options.dummy_clouds:
                message = "clouds of type dummy are not allowed here: DUMMY_CLOUDS=true allows them"
                raise Missing("DummyCloudsDisabled", message)
            return {"id": cloud_id(cloud), "type": "Dummy"}
        stack = cloud.spec.openstack
        if stack is None:
            raise Missing("InvalidCloud", f"{cloud.metadata.name} has no openstack")
        secret = await self._secret(client, cloud, stack.auth.credentials_secret_ref)
        # The provider sees them, and shows them to the cloud.
        require_shared(secret, provider, stack.url)
        used.append(secret)
        record: dict[str, str | Sensitive[str]] = {
            "id": cloud_id(cloud),
            "type": "OpenStack",
            "host": stack.url.rstrip("/"),
            "username": Sensitive(_value(secret, "username").decode()),
            "password": Sensitive(_value(secret, "password").decode()),
            "tenant": stack.auth.project.name,
            "auth_version": "3.x_password",
            "domain": stack.auth.user_domain_name or "Default",
            "tenant_domain_id": stack.auth.project.domain_id or "default",
        }
        if stack.region:
            record["service_region"] = stack.region
        return record

    async def _secret(self, client: Client, owner: Object, ref: CredentialsRef) -> Secret:
        namespace = owner.metadata.namespace
        if not namespace:
            namespace = self.options.global_secrets_namespace
            if not namespace or ref.namespace != namespace:
                message = (
                    f"Secret {ref.name} of a global kind must be in the namespace that"
                    f" GLOBAL_SECRETS_NAMESPACE names, {namespace or 'which is not set'}"
                )
                raise Missing("SecretNotAllowed", message)
        secret = await self.secrets.find(client, Request(ref.name, namespace))
        if secret is None:
            raise Missing("SecretNotFound", f"Secret {namespace}/{ref.name} is not there")
        return secret


def require_shared(secret: Secret, *urls: str) -> None:
    """Missing unless a Secret names the hosts of these URLs, which would see it.

    Who may create a provider or a Cloud need not be allowed to read Secrets, and chooses the URL.
    """
    hosts = {url_host(url) for url in urls}
    if not (unnamed := sorted(hosts - named_hosts(secret, HOSTS))) and "" not in hosts:
        return
    message = (
        f"Secret {secret.key} does not name {', '.join(unnamed)}, which would see it; if it may:"
        f" {annotate_command(secret, HOSTS, hosts - {''})}"
    )
    raise Missing("SecretNotShared", message)


def snapshot(cloud: AnyCloud, provider: AnyProvider) -> CloudBinding:
    """Cloud and provider as they are now."""
    stack, im = cloud.spec.openstack, provider.spec.im
    endpoints = (
        f"{im.url.rstrip('/') if im else ''} {stack.url.rstrip('/') if stack else cloud.spec.type}"
    )
    return CloudBinding(
        kind=resource_of(type(cloud)).kind,
        name=cloud.metadata.name,
        uid=cloud.metadata.uid,
        provider_kind=resource_of(type(provider)).kind,
        provider_name=provider.metadata.name,
        provider_uid=provider.metadata.uid,
        endpoint_hash=hashlib.sha256(endpoints.encode()).hexdigest()[:16],
    )


def _user(secret: Secret) -> Mapping[str, Sensitive[str]]:
    if secret_value(secret, "token"):
        return {"token": Sensitive(_value(secret, "token").decode())}
    names = ("username", "password")
    return {name: Sensitive(_value(secret, name).decode()) for name in names}


def _value(secret: Secret, key: str) -> bytes:
    value = secret_value(secret, key)
    try:
        value = value if value is None else value.decode().encode()
    except UnicodeDecodeError:
        value = None
    if not value:
        message = f"Secret {secret.key} has no key {key}, or not as text"
        raise Missing("SecretIncomplete", message)
    return value


def _content_hash(session: ProviderSession, *named: Object) -> str:
    """Of specs and of what Secrets hold. It is kept in memory: passwords could be guessed by it."""
    given = {
        **session.user,
        **{f"cloud {key}": each for key, each in (session.cloud or {}).items()},
    }
    held = sorted(
        (key, each.reveal() if isinstance(each, Sensitive) else each) for key, each in given.items()
    )
    parts = [f"{each.metadata.uid}/{each.metadata.generation}" for each in named]
    text = repr((parts, held, session.authority))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _fingerprint(used: list[Object]) -> str:
    """Of specs and of versions of Secrets, not of statuses: those change by our own hand."""
    parts = [f"{each.metadata.uid}/{_version(each)}" for each in used]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def _version(used: Object) -> str:
    meta = used.metadata
    return meta.resource_version if isinstance(used, Secret) else str(meta.generation)
