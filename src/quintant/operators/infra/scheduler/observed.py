"""`Candidates`: the clouds that a Cluster may go to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quintant.operators.infra.api import AnyCloud


@dataclass(frozen=True, slots=True)
class Candidates:
    """The clouds that there are, and how many Clusters each has."""

    own: Sequence[AnyCloud]
    everybodys: Sequence[AnyCloud]
    bound: Mapping[str, int]
