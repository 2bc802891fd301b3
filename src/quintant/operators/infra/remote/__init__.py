"""What is outside: providers of infrastructure, and the clusters that they made.

`Provider` is what is asked of a provider; `im.py` speaks it to an Infrastructure Manager. `Targets`
looks at a made cluster through its kubeconfig. Both are Protocols, so that tests and exploration
put models in their place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from quintant.core.secret_hosts import url_host
from quintant.operators.infra.observed.answers import (
    Estimate,
    InfrastructureState,
    MachineDetails,
    TargetLook,
)
from quintant.operators.infra.observed.marks import InfrastructureMarks
from quintant.operators.infra.observed.session import ProviderSession
from quintant.runtime.cache.client import Client
from quintant.runtime.remote_calls import RemoteCalls, changes, reads

Template = Mapping[str, Any]


class Provider(Protocol):
    """What is asked of a provider, about one cloud; every call may raise ProviderError."""

    @reads
    async def version(self) -> str:
        """Which version it is; needs no credentials."""

    @reads
    async def check(self) -> None:
        """Whether it accepts who we are."""

    @reads
    async def check_cloud(self) -> None:
        """Whether the cloud behind it accepts who we are."""

    @changes("try a template")
    async def plan(self, template: Template) -> Estimate:
        """What a template would become; nothing is created."""

    @changes("create an infrastructure")
    async def create(self, template: Template) -> str:
        """Begin to make an infrastructure; its id. The answer does not wait for machines."""

    @reads
    async def find(
        self, wanted: InfrastructureMarks, besides: Collection[str] = ()
    ) -> tuple[str, ...]:
        """The infrastructures that carry one of these marks; those `besides` are not looked at."""

    @reads
    async def marks(self, id: str) -> InfrastructureMarks:
        """What an infrastructure is recognised by."""

    @reads
    async def template(self, id: str) -> Mapping[str, Any] | None:
        """The template of an infrastructure; None if the provider lost it."""

    @changes("update infrastructure {id}")
    async def update(self, id: str, template: Template, seconds: float) -> None:
        """Bring an infrastructure in line with a template; answered when its machines are made."""

    @changes("reconfigure infrastructure {id}")
    async def reconfigure(self, id: str) -> None:
        """Begin to configure the machines again."""

    @changes("replace machines {machines} of infrastructure {id}")
    async def replace(self, id: str, machines: Collection[str]) -> None:
        """Delete machines; the template, sent again, makes others in their place."""

    @changes("delete infrastructure {id}")
    async def delete(self, id: str, *, force: bool = False) -> None:
        """Begin to delete an infrastructure; that it was begun says nothing of its success."""

    @changes("delete infrastructure {id}")
    async def delete_now(self, id: str, seconds: float, *, force: bool = False) -> None:
        """Delete an infrastructure; answered when it is gone, or with the reason that it is not."""

    @reads
    async def state(self, id: str) -> InfrastructureState:
        """How an infrastructure is."""

    @reads
    async def outputs(self, id: str) -> Mapping[str, Any]:
        """The outputs of its template."""

    @reads
    async def machines(self, id: str, ids: Collection[str]) -> Mapping[str, MachineDetails]:
        """Names and addresses of machines; of as many as there is time for."""

    @reads
    async def log(self, id: str) -> str:
        """The end of the log of its configuration."""


class Providers(Protocol):
    """How a provider is reached."""

    def __call__(self, session: ProviderSession, /) -> Provider:
        """The provider of a session."""


class Targets(Protocol):
    """How a made cluster is looked at."""

    async def __call__(
        self, near: Client, kubeconfig: bytes, *, seconds: float, insecure: bool
    ) -> TargetLook:
        """What a cluster says of itself and its nodes; never raises."""


@dataclass(frozen=True, slots=True)
class Remote:
    """Everything outside."""

    providers: Providers
    targets: Targets

    def guarded(self, calls: RemoteCalls) -> Remote:
        """The same, called only as a manager may; made clusters are only read."""

        def provider(session: ProviderSession) -> Provider:
            return calls.guard(self.providers(session), Provider, url_host(session.url))

        return Remote(provider, self.targets)
