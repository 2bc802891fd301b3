"""`ProviderObserved`: everything that was read about one provider."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quintant.operators.infra.api import AnyProvider
from quintant.operators.infra.observed.answers import Failure
from quintant.operators.infra.observed.cluster import Unresolved


@dataclass(frozen=True, slots=True)
class ProviderObserved:
    """Everything that was read about one provider."""

    provider: AnyProvider
    now: datetime
    users: tuple[str, ...] = ()
    """The clouds that name it."""
    version: str = ""
    unresolved: Unresolved | None = None
    failure: Failure | None = None
    fingerprint: str = ""

    @property
    def up(self) -> bool:
        """Whether it answers, and accepts us."""
        return self.failure is None and self.unresolved is None
