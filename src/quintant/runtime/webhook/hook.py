"""One admission webhook, declared: where it is, what it is asked about, and how it decides.

A hook is a value, and bound to nothing. Paths and names are those of kubebuilder's projects unless
given, so that manifests written for such a project fit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from quintant.api.admission import (
    AdmissionResponse,
    FailurePolicy,
    MatchCondition,
    MatchPolicy,
    Reinvocation,
    SideEffects,
)
from quintant.api.meta import LabelSelector
from quintant.core.errors import ConfigError
from quintant.core.resource import Resource
from quintant.runtime.webhook.admission import Admission

Operation = Literal["CREATE", "UPDATE", "DELETE"]
Verb = Literal["validate", "mutate"]

# What the API server accepts as a webhook's time-out, in seconds.
TIMEOUTS = range(1, 31)
# A webhook's name needs a domain; this one is what kubebuilder's projects use.
DOMAIN = "kb.io"


class WebhookSettings(Struct, frozen=True):
    """How an API server treats a webhook; each default is what the server itself would choose."""

    failure_policy: FailurePolicy = "Fail"
    """Whether a change is refused (Fail) or let through (Ignore) when there is no verdict."""
    match_policy: MatchPolicy = "Equivalent"
    side_effects: SideEffects = "None"
    timeout_seconds: int = 10
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    match_conditions: tuple[MatchCondition, ...] = ()
    reinvocation_policy: Reinvocation = "Never"
    """Whether a mutator is asked again when a later one changed the object."""

    def __post_init__(self) -> None:
        if self.timeout_seconds not in TIMEOUTS:
            raise ConfigError(
                f"a webhook's time-out cannot be {self.timeout_seconds} s",
                because="the API server accepts 1 to 30 seconds",
            )


@dataclass(frozen=True, slots=True)
class WebhookHandler:
    """What is declared of one webhook."""

    verb: Verb
    resource: Resource
    operations: tuple[Operation, ...]
    path: str
    name: str
    settings: WebhookSettings
    decide: Callable[[Admission], Awaitable[AdmissionResponse]] = field(repr=False)


def default_path(verb: Verb, resource: Resource) -> str:
    """`/validate-portal-gosuda-org-v1alpha1-portalexpose`; of the core group `/mutate--v1-pod`."""
    group = resource.group.replace(".", "-")
    return f"/{verb}-{group}-{resource.version}-{resource.kind.lower()}"


def default_name(verb: Verb, resource: Resource) -> str:
    """`vportalexpose-v1alpha1.kb.io`."""
    return f"{verb[0]}{resource.kind.lower()}-{resource.version}.{DOMAIN}"
