"""Who says which clusters there are: a list in the program, Secrets, whatever follows.

A provider runs at home for as long as the program, offers clusters as they come, offers them again
when how they are reached has changed, and withdraws those that go.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from quintant.api.meta import ObjectReference
from quintant.client.config.config import Config
from quintant.client.rest import Rest
from quintant.core.clock import Random
from quintant.core.errors import ConfigError
from quintant.runtime.cache.informer import Informer
from quintant.runtime.controller.declaration import PermissionUse
from quintant.runtime.controller.namespaces import is_dns_label
from quintant.runtime.remote import RemoteLimits
from quintant.runtime.watch.timeouts import Timers

LIMITS = RemoteLimits(size=64 * 1024 * 1024)
"""What one cluster may cost: a page of 500 objects of 128 KiB fits, and an answer ends in 30 s."""


class ClusterOffer(Struct, frozen=True):
    """A cluster, and how it is reached."""

    name: str
    """What keys of it carry; it stays the same for as long as the cluster is the same."""
    config: Config | None
    """None where what is given cannot be used."""
    version: str = ""
    """An offer of another version is connected to anew; one of the same version changes nothing."""
    refusal: str = ""
    """Why it cannot be used; never holds what a Secret holds."""
    regarding: ObjectReference | None = None
    """The object at home that describes it: events on it say how it is."""
    limits: RemoteLimits = LIMITS
    """What it may cost."""


class ClusterSink(Protocol):
    """Who takes offers."""

    def offer(self, offer: ClusterOffer, provider: object) -> None:
        """Work in a cluster from now on."""

    def withdraw(self, name: str, provider: object) -> None:
        """Forget a cluster; nothing in it is deleted."""


class ProviderHome(Struct, frozen=True):
    """What a provider is given to work with."""

    rest: Rest
    """Of home, to read."""
    random: Random
    timers: Timers
    sink: ClusterSink
    informers: list[Informer[Any]]
    """Those by which it knows which clusters there are: what is wrong with them is shown."""


class ClusterProvider(Protocol):
    """Who says which clusters there are."""

    @property
    def uses(self) -> tuple[PermissionUse, ...]:
        """What it needs at home; the generated role has it."""

    async def run(self, home: ProviderHome) -> None:
        """Offer and withdraw clusters until cancelled."""


class DeclaredClusters:
    """The clusters that a program names itself: `manager.cluster("west", "west.yaml")`."""

    uses: tuple[PermissionUse, ...] = ()

    def __init__(self) -> None:
        self._declared: dict[str, tuple[str | Path | Config, str | None, RemoteLimits]] = {}

    def add(
        self,
        name: str,
        kubeconfig: str | Path | Config,
        context: str | None,
        limits: RemoteLimits | None = None,
    ) -> None:
        """Declare one; ConfigError for a name that makes no key."""
        if not is_dns_label(name):
            raise ConfigError(
                f"a cluster cannot be called {name!r}",
                because="keys, logs and metrics carry its name",
                hint="one word of a-z, 0-9 and -, of at most 63 characters",
            )
        if name in self._declared:
            raise ConfigError(
                f"two clusters are called {name!r}", because="their keys carry that name"
            )
        self._declared[name] = kubeconfig, context, limits or LIMITS

    async def run(self, home: ProviderHome) -> None:
        """Read every kubeconfig once; ConfigError ends the start if one cannot be used."""
        for name, (kubeconfig, context, limits) in self._declared.items():
            config = (
                kubeconfig
                if isinstance(kubeconfig, Config)
                else Config.load(kubeconfig, context=context)
            )
            home.sink.offer(ClusterOffer(name, config, limits=limits), self)
