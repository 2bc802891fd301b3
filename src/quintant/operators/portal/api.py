"""The kinds of Portal Expose: a Service made public, and what its tunnels are like.

Fields, names and limits are those of the Portal Expose contract; its manifests apply unchanged.
What it does not know is optional: `authSecretRef`, `caConfigMapRef`, and more in the status.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from quintant.api.core import Secret
from quintant.api.meta import Condition
from quintant.api.scheduling import Toleration
from quintant.core.markers import date_time, list_map
from quintant.core.object import Custom, Model, Object
from quintant.core.resource import Column, projection, resource

GROUP = "portal.gosuda.org"
VERSION = "v1alpha1"
FINALIZER = f"{GROUP}/cleanup-tunnel-deployment"
DEFAULT_CLASS = f"{GROUP}/is-default-class"
"""The annotation ("true") of the TunnelClass for those who name none."""
TARGET_TLS = f"{GROUP}/target-tls"
"""The annotation that says how the Service is spoken to: off, insecure or verify."""

TOKEN_TYPE = f"{GROUP}/relay-token"
"""The type of Secrets that may be shown to relays; a Secret's type never changes."""
KEY_TYPE = f"{GROUP}/tunnel-key"
"""The type of the Secret that holds the key of a PortalExpose's tunnels."""
TOKEN_RELAYS = f"{GROUP}/relays"
"""The annotation of such a Secret: the relays that may see it, as host or host:port, by commas."""

LABEL_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
LABEL_LENGTH = 63
MOST_RELAYS = 16
MOST_REPLICAS = 100

Phase = Literal["Pending", "Ready", "Degraded", "Failed"]
RelayState = Literal["Connected", "Disconnected", "Unknown"]
Size = Literal["small", "medium", "large"]
Port = Annotated[int, Meta(ge=1, le=65535)]


class ServiceRef(Model):
    """A port of a Service in the same namespace."""

    name: str
    port: Port


class App(Model):
    """What is made public, and under which name."""

    name: Annotated[str, Meta(pattern=LABEL_PATTERN, max_length=LABEL_LENGTH)]
    service: ServiceRef


@projection(of=Secret)
class RelayToken(Object):
    """A Secret that may be shown to relays, without what it holds."""

    @property
    def relays(self) -> frozenset[str]:
        """Those that may see it."""
        listed = self.metadata.annotations.get(TOKEN_RELAYS, "").split(",")
        return frozenset(each.strip().lower() for each in listed) - {""}


@projection(of=Secret)
class TunnelKey(Object):
    """The Secret with the key of a PortalExpose's tunnels, without what it holds."""

    type: str = ""


class SecretKey(Model):
    """A key of a Secret in the same namespace, which has to be meant for the relay: see above."""

    name: str
    key: str = ""


class ConfigMapKey(Model):
    """A key of a ConfigMap in the same namespace."""

    name: str
    key: str = ""


class RelayTarget(Model):
    """A relay to be reachable through."""

    name: Annotated[str, Meta(min_length=1, max_length=LABEL_LENGTH)]
    url: Annotated[str, Meta(pattern="^wss://.*", max_length=2048)]
    auth_secret_ref: SecretKey | None = None
    ca_config_map_ref: ConfigMapKey | None = None


class RelaySpec(Model):
    """The relays; the first gives the public URL."""

    targets: Annotated[
        tuple[RelayTarget, ...], Meta(min_length=1, max_length=MOST_RELAYS), list_map("name")
    ]


class PortalExposeSpec(Model):
    """What to make public, through which relays, by tunnels of which class."""

    app: App
    relay: RelaySpec
    tunnel_class_name: str = ""
    """Empty means the default class."""


class TunnelPods(Model):
    """How many tunnel pods are ready, of how many; zero is said, too."""

    ready: int | None = None
    total: int | None = None


class RelayConnection(Model):
    """How the tunnels are connected to one relay."""

    name: str
    status: RelayState
    connected_at: Annotated[str, date_time()] | None = None
    last_error: str = ""
    ready_tunnels: int | None = None
    public_url: str = msgspec.field(default="", name="publicURL")


class RelayStatus(Model):
    """Every relay of the spec, in its order."""

    connected: tuple[RelayConnection, ...] = ()


class PortalExposeStatus(Model):
    """What became of it."""

    phase: Phase | None = None
    public_url: str = msgspec.field(default="", name="publicURL")
    tunnel_pods: TunnelPods | None = None
    relay: RelayStatus | None = None
    observed_generation: int | None = None
    tunnel_class_name: str = ""
    """The class in force."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(
    group=GROUP,
    version=VERSION,
    status=True,
    short=["pe"],
    categories=["portal"],
    columns={
        "Phase": ".status.phase",
        "URL": ".status.publicURL",
        "Ready": ".status.tunnelPods.ready",
        "Total": ".status.tunnelPods.total",
        "App": Column(".spec.app.name", priority=1),
        "Class": Column(".spec.tunnelClassName", priority=1),
        "Age": ".metadata.creationTimestamp",
    },
)
class PortalExpose(Custom[PortalExposeSpec, PortalExposeStatus]):
    """Makes a Service reachable under a public URL, through tunnels to relays."""


class TunnelClassSpec(Model):
    """How many tunnel pods, how big, and where."""

    replicas: Annotated[int, Meta(ge=1, le=MOST_REPLICAS)]
    size: Size
    node_selector: Mapping[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class TunnelClassStatus(Model):
    """Which generation was seen, and whether it is the default."""

    observed_generation: int | None = None
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(
    group=GROUP,
    version=VERSION,
    plural="tunnelclasses",
    namespaced=False,
    status=True,
    short=["tc"],
    categories=["portal"],
    columns={
        "Replicas": ".spec.replicas",
        "Size": ".spec.size",
        "Default": Column(
            r".metadata.annotations.portal\.gosuda\.org/is-default-class", kind="string"
        ),
        "Age": ".metadata.creationTimestamp",
    },
)
class TunnelClass(Custom[TunnelClassSpec, TunnelClassStatus]):
    """What tunnels are like: their number, their size and their place."""

    @property
    def default(self) -> bool:
        """Whether it wants to be the class of those who name none."""
        return self.metadata.annotations.get(DEFAULT_CLASS) == "true"
