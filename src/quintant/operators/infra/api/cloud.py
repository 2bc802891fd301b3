"""Cloud and GlobalCloud: where machines can be had, as whom, and through which provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from quintant.api.meta import Condition
from quintant.core.object import Custom, Model
from quintant.core.resource import Column, resource
from quintant.core.schema.markers import cel, default, list_map
from quintant.operators.infra.api.names import (
    CATEGORY,
    GROUP,
    URL,
    VERSION,
    CredentialsRef,
    Name,
    Reserved,
)

GLOBAL_PROVIDER = "GlobalInfrastructureProvider"


class Project(Model):
    """A project of Keystone."""

    name: Annotated[str, Meta(min_length=1)]
    """Its name."""
    domain_id: Annotated[str | None, default("default")] = msgspec.field(
        default=None, name="domainID"
    )
    """The id of its domain."""


class OpenStackAuth(Model):
    """Who we are to Keystone."""

    type: Annotated[Literal["password"] | None, default("password")] = None
    """How we prove who we are."""
    credentials_secret_ref: CredentialsRef
    """Its keys are `username` and `password`."""
    user_domain_name: Annotated[str | None, default("Default")] = None
    """The domain of the user."""
    project: Project


class OpenStackSpec(Model):
    """An OpenStack."""

    url: Annotated[str, Meta(pattern=URL, max_length=2048)]
    """Of Keystone, such as https://keystone:5000."""
    region: str = ""
    """The region; empty for the only one."""
    auth: OpenStackAuth


class ProviderRef(Model):
    """The provider that has machines made here."""

    kind: Annotated[
        Literal["InfrastructureProvider", "GlobalInfrastructureProvider"] | None,
        default("InfrastructureProvider"),
    ] = None
    """InfrastructureProvider, in the same namespace, or GlobalInfrastructureProvider."""
    name: Name
    """Its name."""


class CloudSpec(Model):
    """Which kind of cloud it is, what that kind needs, and who may come here."""

    type: Literal["openstack", "dummy"]
    """`dummy` makes nothing anywhere: for tests and demos, where the operator allows it."""
    openstack: OpenStackSpec | None = None
    provider_ref: ProviderRef
    schedulable: Annotated[bool | None, default(True)] = None
    """Whether new Clusters may come here; those that are here stay."""
    max_clusters: Annotated[int, Meta(ge=0)] | None = None
    """How many Clusters may be here; nothing means any number."""
    deletion_policy: Annotated[Literal["Block"] | None, default("Block")] = None
    """Block: it stays until its Clusters are gone."""
    metrics: Reserved = None
    """Reserved: refused if it is given."""


class CloudStatus(Model):
    """Whether Clusters can be made here."""

    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    state: Literal["ONLINE"] | None = None
    """ONLINE once it can be used."""
    bound_clusters: int | None = None
    """How many Clusters are here."""
    fingerprint: str = ""
    """Changes with the provider and with every Secret: Clusters try again then."""
    held_secrets: tuple[str, ...] = ()
    """Secrets, as namespace/name, that stay for as long as there are Clusters here."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""


_COLUMNS: Mapping[str, str | Column] = {
    "Ready": r'.status.conditions[?(@.type=="Ready")].status',
    "Type": ".spec.type",
    "Provider": ".spec.providerRef.name",
    "Clusters": ".status.boundClusters",
    "State": Column(".status.state", priority=1),
    "Age": ".metadata.creationTimestamp",
}
_UNION = cel(
    "self.spec.type != 'openstack' || has(self.spec.openstack)",
    "type openstack needs openstack",
    path=".spec.openstack",
)
_HERE = cel(
    "!has(self.spec.openstack)"
    " || !has(self.spec.openstack.auth.credentialsSecretRef.__namespace__)",
    "the Secret is in the namespace of the Cloud: leave namespace out",
    path=".spec.openstack.auth.credentialsSecretRef",
)
_SOMEWHERE = cel(
    "!has(self.spec.openstack) || has(self.spec.openstack.auth.credentialsSecretRef.__namespace__)",
    "a global cloud says in which namespace the Secret is",
    path=".spec.openstack.auth.credentialsSecretRef",
)
_GLOBAL = cel(
    f"self.spec.providerRef.kind == '{GLOBAL_PROVIDER}'",
    f"a global cloud needs a {GLOBAL_PROVIDER}",
    path=".spec.providerRef.kind",
)


@resource(
    group=GROUP,
    version=VERSION,
    status=True,
    categories=[CATEGORY],
    columns=_COLUMNS,
    rules=[_UNION, _HERE],
)
class Cloud(Custom[CloudSpec, CloudStatus]):
    """A place for the machines of the Clusters in its namespace."""


@resource(
    group=GROUP,
    version=VERSION,
    namespaced=False,
    status=True,
    categories=[CATEGORY],
    columns=_COLUMNS,
    rules=[_UNION, _SOMEWHERE, _GLOBAL],
)
class GlobalCloud(Custom[CloudSpec, CloudStatus]):
    """A place for the machines of everybody's Clusters."""
