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
from quintant.core.object import Custom, Model, Object
from quintant.core.resource import Column, projection, resource
from quintant.core.schema.markers import date_time, list_map
from quintant.core.secret_hosts import named_hosts

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
MOST_RATE = 1_000_000
MOST_NODE_LABELS = 64
MOST_TOLERATIONS = 64
URL_LENGTH = 2048

Phase = Literal["Pending", "Ready", "Degraded", "Failed"]
RelayState = Literal["Connected", "Disconnected", "Unknown"]
Size = Literal["small", "medium", "large"]
Port = Annotated[int, Meta(ge=1, le=65535)]


class ServiceRef(Model):
    """A port of a Service in the same namespace."""

    name: str
    """The Service's name."""
    port: Port
    """A port of the Service."""


class App(Model):
    """What is made public, and under which name."""

    name: Annotated[str, Meta(pattern=LABEL_PATTERN, max_length=LABEL_LENGTH)]
    """The name before the relay's domain: a DNS label."""
    service: ServiceRef


@projection(of=Secret)
class RelayToken(Object):
    """A Secret that may be shown to relays, without what it holds."""

    @property
    def relays(self) -> frozenset[str]:
        """Those that may see it."""
        return named_hosts(self, TOKEN_RELAYS)


@projection(of=Secret)
class TunnelKey(Object):
    """The Secret with the key of a PortalExpose's tunnels, without what it holds."""

    type: str = ""


class SecretKey(Model):
    """A key of a Secret in the same namespace, which has to name the relay that may see it."""

    name: str
    """The Secret's name."""
    key: str = ""
    """The key in it; token if not given."""


class ConfigMapKey(Model):
    """A key of a ConfigMap in the same namespace."""

    name: str
    """The ConfigMap's name."""
    key: str = ""
    """The key in it; ca.crt if not given."""


class RelayTarget(Model):
    """A relay to be reachable through."""

    name: Annotated[str, Meta(min_length=1, max_length=LABEL_LENGTH)]
    """What the relay is called in the status."""
    url: Annotated[str, Meta(pattern="^wss://.*", max_length=URL_LENGTH)]
    """Where tunnels connect to it: wss://host/relay."""
    auth_secret_ref: SecretKey | None = None
    ca_config_map_ref: ConfigMapKey | None = None


class RelaySpec(Model):
    """The relays; the first gives the public URL."""

    targets: Annotated[
        tuple[RelayTarget, ...], Meta(min_length=1, max_length=MOST_RELAYS), list_map("name")
    ]
    """The relays, all of which are connected at once; the first gives the public URL."""


class PortalExposeSpec(Model):
    """What to make public, through which relays, by tunnels of which class."""

    app: App
    relay: RelaySpec
    tunnel_class_name: str = ""
    """Empty means the default class."""


class TunnelPods(Model):
    """How many tunnel pods are ready, of how many; zero is said, too."""

    ready: int | None = None
    """Tunnel pods that are ready."""
    total: int | None = None
    """Tunnel pods that there should be."""


class RelayConnection(Model):
    """How the tunnels are connected to one relay."""

    name: str
    """The relay, as in the spec."""
    status: RelayState
    """Connected, Disconnected, or Unknown if no tunnel has told."""
    connected_at: Annotated[str, date_time()] | None = None
    """Since when it is connected."""
    last_error: str = ""
    """Why it is not connected."""
    ready_tunnels: int | None = None
    """How many tunnels are connected to it."""
    public_url: str = msgspec.field(default="", name="publicURL")
    """Where visitors of this relay find it."""


class RelayStatus(Model):
    """Every relay of the spec, in its order."""

    connected: tuple[RelayConnection, ...] = ()
    """The relays."""


class PortalExposeStatus(Model):
    """What became of it."""

    phase: Phase | None = None
    """Pending, Ready, Degraded or Failed."""
    public_url: str = msgspec.field(default="", name="publicURL")
    """Where visitors find it."""
    tunnel_pods: TunnelPods | None = None
    relay: RelayStatus | None = None
    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    tunnel_class_name: str = ""
    """The class in force."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""


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


class RateLimit(Model):
    """So many requests per second, after a burst; more get 429 and are told when to come again."""

    requests_per_second: Annotated[int, Meta(ge=1, le=MOST_RATE)]
    """On average."""
    burst: Annotated[int, Meta(ge=1, le=MOST_RATE)] | None = None
    """How many at once; as many as in a second if not given."""


class RateLimits(Model):
    """How many requests each relay lets through, to each PortalExpose of the class."""

    per_visitor: RateLimit | None = None
    """Of one address; of IPv6, of one network of 64 bits."""
    per_exposure: RateLimit | None = None
    """Of all visitors together."""


class TunnelClassSpec(Model):
    """How many tunnel pods, how big, and where."""

    replicas: Annotated[int, Meta(ge=1, le=MOST_REPLICAS)]
    """How many tunnel pods there are; all of them serve."""
    size: Size
    """How big each is: small, medium or large."""
    node_selector: Annotated[Mapping[str, str], Meta(max_length=MOST_NODE_LABELS)] = {}
    """Labels that the nodes of tunnels must have."""
    tolerations: Annotated[tuple[Toleration, ...], Meta(max_length=MOST_TOLERATIONS)] = ()
    """Taints that tunnels bear."""
    rate_limits: RateLimits | None = None


class TunnelClassStatus(Model):
    """Which generation was seen, and whether it is the default."""

    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""


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
        "Ready": r'.status.conditions[?(@.type=="Ready")].status',
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
