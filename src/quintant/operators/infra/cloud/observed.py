"""`CloudObserved`: everything that was read about one cloud."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quintant.operators.infra.api import AnyCloud, AnyProvider
from quintant.operators.infra.observed.answers import Failure
from quintant.operators.infra.observed.cluster import Unresolved


@dataclass(frozen=True, slots=True)
class CloudObserved:
    """Everything that was read about one cloud."""

    cloud: AnyCloud
    now: datetime
    users: tuple[str, ...] = ()
    """The Clusters that are bound to it."""
    provider: AnyProvider | None = None
    unresolved: Unresolved | None = None
    failure: Failure | None = None
    """Why the provider cannot use the cloud."""
    needed: tuple[str, ...] | None = None
    """The Secrets that it takes to ask for anything; None if it is not known."""
    probed: bool = False
    fingerprint: str = ""
