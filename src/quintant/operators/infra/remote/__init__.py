"""What is outside: providers of infrastructure, and the clusters that they made.

`Provider` is what is asked of a provider; `im.py` speaks it to an Infrastructure Manager. `Targets`
looks at a made cluster through its kubeconfig. Both are Protocols, so that tests and exploration
put models in their place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from quintant.operators.infra.observed.answers import (
    Estimate,
    InfrastructureState,
    MachineDetails,
    TargetLook,
)
from quintant.operators.infra.observed.marks import InfrastructureMarks
from quintant.operators.infra.observed.session import ProviderSession
from quintant.runtime.cache.client import Client

Template = Mapping[str, Any]


class Provider(Protocol):
    """What is asked of a provider, about one cloud; every call may raise ProviderError."""

    async def version(self) -> str:
        """Which version it is; needs no credentials."""

    async def check(self) -> None:
        """Whether it accepts who we are."""

    async def check_cloud(self) -> None:
        """Whether the cloud behind it accepts who we are."""

    async def plan(self, template: Template) -> Estimate:
        """What a template would become; nothing is created."""

    async def create(self, template: Template) -> str:
        """Begin to make an infrastructure; its id. The answer does not wait for machines."""

    async def find(
        self, wanted: InfrastructureMarks, besides: Collection[str] = ()
    ) -> tuple[str, ...]:
        """The infrastructures that carry one of these marks; those `besides` are not looked at."""

    async def marks(self, id: str) -> InfrastructureMarks:
        """What an infrastructure is recognised by."""

    async def template(self, id: str) -> Mapping[str, Any] | None:
        """The template of an infrastructure; None if the provider lost it."""

    async def update(self, id: str, template: Template, seconds: float) -> None:
        """Bring an infrastructure in line with a template; answered when its machines are made."""

    async def reconfigure(self, id: str) -> None:
        """Begin to configure the machines again."""

    async def replace(self, id: str, machines: Collection[str]) -> None:
        """Delete machines; the template, sent again, makes others in their place."""

    async def delete(self, id: str, *, force: bool = False) -> None:
        """Begin to delete an infrastructure; that it was begun says nothing of its success."""

    async def delete_now(self, id: str, seconds: float, *, force: bool = False) -> None:
        """Delete an infrastructure; answered when it is gone, or with the reason that it is not."""

    async def state(self, id: str) -> InfrastructureState:
        """How an infrastructure is."""

    async def outputs(self, id: str) -> Mapping[str, Any]:
        """The outputs of its template."""

    async def machines(self, id: str, ids: Collection[str]) -> Mapping[str, MachineDetails]:
        """Names and addresses of machines; of as many as there is time for."""

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
