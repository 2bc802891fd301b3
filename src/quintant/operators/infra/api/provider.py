"""InfrastructureProvider and its global twin: who makes machines, and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from quintant.api.meta import Condition
from quintant.core.object import Custom, Model
from quintant.core.resource import Column, resource
from quintant.core.schema.markers import cel, default, duration, list_map
from quintant.operators.infra.api.names import CATEGORY, GROUP, URL, VERSION, CredentialsRef, Name


class AuthorityRef(Model):
    """A key of a Secret with the certificates that the provider's is checked against."""

    name: Name
    """The Secret's name."""
    namespace: str = ""
    """Its namespace; only for global providers."""
    key: Annotated[str | None, default("ca.crt")] = None
    """The key in it."""


class ImSpec(Model):
    """An Infrastructure Manager."""

    url: Annotated[str, Meta(pattern=URL, max_length=2048)]
    """Where its REST API is; a path before it is fine."""
    credentials_secret_ref: CredentialsRef
    """Its keys are `username` and `password`, or `token`, which wins."""
    auth_format: Annotated[Literal["Auto", "JSON"] | None, default("Auto")] = None
    """How credentials are written in requests: Auto finds out."""
    ca_bundle_secret_ref: AuthorityRef | None = None
    insecure_skip_verify: bool = False
    """Believe any certificate: for tests."""
    request_timeout: Annotated[str | None, duration(), default("30s")] = None
    """For calls that are answered at once; updates have the Cluster's time."""
    max_concurrent_requests: Annotated[int | None, Meta(ge=1, le=32), default(8)] = None
    """IM itself serves 32 at once, and one cloud's trouble should not take them all."""


class ProviderSpec(Model):
    """Which kind of provider it is, and what that kind needs."""

    type: Literal["im"]
    """im: Infrastructure Manager."""
    im: ImSpec | None = None


class ProviderStatus(Model):
    """Whether it can be reached, and knows us."""

    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    version: str = ""
    """The provider's version."""
    clouds: int | None = None
    """How many Clouds name it."""
    fingerprint: str = ""
    """Changes with its spec and its Secrets: Clouds look again then."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""


_COLUMNS: Mapping[str, str | Column] = {
    "Ready": r'.status.conditions[?(@.type=="Ready")].status',
    "Version": ".status.version",
    "URL": Column(".spec.im.url", priority=1),
    "Age": ".metadata.creationTimestamp",
}
_UNION = cel("self.spec.type != 'im' || has(self.spec.im)", "type im needs im", path=".spec.im")
_HERE = cel(
    "!has(self.spec.im) || !has(self.spec.im.credentialsSecretRef.__namespace__)",
    "the Secret is in the namespace of the provider: leave namespace out",
    path=".spec.im.credentialsSecretRef",
)
_SOMEWHERE = cel(
    "!has(self.spec.im) || has(self.spec.im.credentialsSecretRef.__namespace__)",
    "a global provider says in which namespace the Secret is",
    path=".spec.im.credentialsSecretRef",
)


@resource(
    group=GROUP,
    version=VERSION,
    status=True,
    short=["ip"],
    categories=[CATEGORY],
    columns=_COLUMNS,
    rules=[_UNION, _HERE],
)
class InfrastructureProvider(Custom[ProviderSpec, ProviderStatus]):
    """A service that makes machines in clouds, for the Clouds of its namespace."""


@resource(
    group=GROUP,
    version=VERSION,
    namespaced=False,
    status=True,
    short=["gip"],
    categories=[CATEGORY],
    columns=_COLUMNS,
    rules=[_UNION, _SOMEWHERE],
)
class GlobalInfrastructureProvider(Custom[ProviderSpec, ProviderStatus]):
    """A service that makes machines in clouds, for everybody."""
