"""The settings of a manager, with the reason for each default.

`Settings` is what a program or its flags say; `ManagerOptions` what an operator's environment may
say of it, under the names that kubebuilder's users know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from quintant.client.token_bucket import check_rate
from quintant.core.address import BindAddress
from quintant.core.errors import ConfigError
from quintant.core.options import Duration
from quintant.runtime.cache.staleness import LEAST_SAMPLING_SECONDS
from quintant.runtime.controller.declaration import PermissionUse
from quintant.runtime.leader.lease import LeaseTimes
from quintant.runtime.shard.layout import Shards
from quintant.runtime.watch.timeouts import Timers


class Settings(Struct, frozen=True):
    """Values only; addresses are `host:port`, an empty host is every interface, empty is off."""

    name: str
    namespaces: tuple[str, ...] = ()
    """The only namespaces that are watched; empty means all."""
    selector: Mapping[str, str] = field(default_factory=dict)
    """The labels of the only namespaces that are watched, which come and go; empty means all."""
    leader_elect: bool = False
    """Compete for a lease before working; needed with more than one replica."""
    shards: Shards | None = None
    """Divide the keys among all replicas; leader election is for nothing then."""
    lease: LeaseTimes = LeaseTimes()
    """How long a lease is respected, kept without renewal, and how often it is renewed."""
    lease_namespace: str = ""
    """Where the lease is; empty means where the process lives."""
    metrics: str = "127.0.0.1:8080"
    """For this machine only: what is seen there is for others only if a setting says so.
    Generated Deployments say so, with the pod's address."""
    metrics_auth: bool = False
    """Serve metrics, and what else is beside them, only to who may `get` the path: the API server
    is asked. Off: who reaches the address reads them."""
    metrics_certificates: str = ""
    """The folder with tls.crt and tls.key of the metrics, read again when they change; empty is
    plain HTTP."""
    debug: bool = False
    """Serve /debug beside the metrics; only where `metrics_auth` says who reads it."""
    probes: str = "127.0.0.1:8081"
    webhook: str = "127.0.0.1:9443"
    certificates: str = ""
    """The folder with tls.crt and tls.key of the webhooks; empty is where kubebuilder mounts it."""
    webhook_secret: str = ""
    """The Secret, where the process lives, in which it keeps certificates of its own for the
    webhooks; replicas share it, and renew them in time."""
    webhook_url: str = ""
    """Where the API server reaches the webhooks, for development: the program then signs its own
    certificates and registers the webhooks itself."""
    resync: float = 36_000.0
    """Seconds until every object is looked at again, give or take a tenth: a safety net only."""
    rate: float | None = None
    """Requests per second, all controllers together, after a `burst`; None leaves it to the server,
    whose own fairness shares out what it can do."""
    burst: int = 10
    threads: int = 16
    """Blocking calls (`ctx.in_thread`) at once: those of four controllers, four workers each."""
    grace: float = 30.0
    """Seconds that reconciles under way get to end after a stop was asked for."""
    watch: Timers = field(default_factory=Timers)
    """When the connection of a watch is renewed, and when a silent one counts as dead."""
    sync_timeout: float | None = 120.0
    """Seconds within which every watched kind must have been read once; None waits for ever."""

    staleness: float | None = None
    """Seconds between two questions to the server how far it is, for each watched kind, from which
    follows how far the caches are behind; None asks only where a controller is `.fresh(…)`."""

    uses: tuple[PermissionUse, ...] = ()
    """What it needs at home beside its controllers: to know which other clusters there are."""

    def __post_init__(self) -> None:
        if self.rate is not None:
            check_rate(self.rate, self.burst)
        if self.selector and self.namespaces:
            raise ConfigError(
                "namespaces by name, and by label",
                because="each says which ones are watched, and they are not the same",
                hint="leave one of the two out",
            )
        if self.selector and self.shards is not None:
            raise ConfigError(
                "a sharded manager of namespaces by label",
                because="members would have to agree on the moment in which a namespace leaves",
                hint="leave shards=… out, or watch all namespaces",
            )
        if self.shards is not None and self.lease != LeaseTimes():
            raise ConfigError(
                "lease times of a sharded manager",
                because="its members renew Leases of their own, at times that fit their ranges",
                hint="leave lease=… out, or shards=…",
            )
        if self.staleness is not None and not self.staleness >= LEAST_SAMPLING_SECONDS:
            raise ConfigError(
                f"staleness={self.staleness:g}",
                because="the server is asked once in so many seconds, for each watched kind",
                hint=f"ask every {LEAST_SAMPLING_SECONDS:g} s or less often, such as staleness=30",
            )


def check_metrics(settings: Settings) -> None:
    """ConfigError for metrics that would be read by others than it is said."""
    if settings.debug and not settings.metrics_auth:
        raise ConfigError(
            "/debug for everybody",
            because="it shows what a process is at, and a profile costs it time",
            hint="say who may read it: metrics_auth=True, --metrics-auth",
        )
    if not (settings.metrics and (settings.metrics_auth or settings.metrics_certificates)):
        return
    if settings.metrics == settings.probes:
        raise ConfigError(
            f"metrics that not everybody reads, and probes, both at {settings.metrics}",
            because="a kubelet shows no token, and does not know the certificate",
            hint="give one of the two another port",
        )
    local = BindAddress.parse(settings.metrics).is_loopback
    if not settings.metrics_certificates and not local:
        raise ConfigError(
            f"tokens at {settings.metrics} without TLS",
            because="whoever listens on the way could use them",
            hint="metrics_certificates=FOLDER, with tls.crt and tls.key; or an address of loopback",
        )


class ManagerOptions(Struct, frozen=True, kw_only=True):
    """What the environment of every operator may say; an operator's own options add to it."""

    max_concurrent_reconciles: int = 4
    """MAX_CONCURRENT_RECONCILES: objects of the main kind that are worked on at once."""
    resync_period: Duration | None = None
    """RESYNC_PERIOD: when everything is looked at again; ten hours if not given."""
    metrics_addr: str | None = None
    """METRICS_ADDR: host:port of /metrics; 127.0.0.1:8080 if not given."""
    health_probe_addr: str | None = None
    """HEALTH_PROBE_ADDR: host:port of /healthz and /readyz; 127.0.0.1:8081 if not given."""
    enable_webhooks: bool = True
    """ENABLE_WEBHOOKS: serve the operator's webhooks, if it has any."""

    @property
    def settings(self) -> dict[str, Any]:
        """What is said about the manager itself: pass it to `Manager.configure`."""
        given = {
            "resync": self.resync_period,
            "metrics": self.metrics_addr,
            "probes": self.health_probe_addr,
        }
        return {name: value for name, value in given.items() if value is not None}
