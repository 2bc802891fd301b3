"""What the observer passes on: how a made cluster is looked at, and what the looks showed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.observed.answers import TargetLook


class ObservedTarget(NamedTuple):
    """A made cluster, and how it is looked at."""

    kubeconfig: Sensitive[bytes]
    interval: float
    timeout: float
    threshold: int
    insecure: bool


@dataclass(frozen=True, slots=True)
class TargetNews:
    """What is known of a made cluster after some looks."""

    look: TargetLook
    failures: int = 0
    """Looks in a row that failed; no more than the threshold are counted."""
    threshold: int = 3
    back: bool = False
    """Whether it is the first answer after it was out of reach."""


@dataclass(frozen=True, slots=True)
class TargetObserved:
    """A Cluster, and what is known of the cluster that was made."""

    cluster: Cluster
    followed: bool = False
    """Whether it is looked at now: it is its time, and there is a kubeconfig."""
    news: TargetNews | None = None
