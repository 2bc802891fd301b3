"""The record of a membership: annotations on the pod, so that a restart forgets nothing.

A record is current while network, incarnation and address are the pod's. When a membership ends,
two things stay: the generation, which counts how often the pod was joined, and the incarnation,
which tells a peer that was a member before from one that is new.

An intent is written before a peer is joined that could not tell afterwards: a process that finds
one and no record asks before it joins. The record replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from quintant.operators.klight.api import (
    ADDRESS,
    GENERATION,
    INCARNATION,
    JOINED_AT,
    JOINED_VIA,
    JOINING,
    NETWORK,
)


@dataclass(frozen=True, slots=True)
class Membership:
    """That a peer is a member, and how it became one."""

    network: str
    incarnation: str
    address: str
    joined_at: str
    """RFC 3339 with microseconds, unique in the network: the order of the stack."""
    joined_via: str
    generation: int = 1

    def annotations(self) -> dict[str, str]:
        """The record as it stands on the pod."""
        return {
            NETWORK: self.network,
            INCARNATION: self.incarnation,
            ADDRESS: self.address,
            JOINED_AT: self.joined_at,
            JOINED_VIA: self.joined_via,
            GENERATION: str(self.generation),
        }

    @classmethod
    def read(cls, annotations: Mapping[str, str]) -> Membership | None:
        """The record on a pod; None if there is none, or only part of one."""
        if any(not annotations.get(key) for key in (NETWORK, INCARNATION, ADDRESS, JOINED_AT)):
            return None
        return cls(
            annotations[NETWORK], annotations[INCARNATION], annotations[ADDRESS],
            annotations[JOINED_AT], annotations.get(JOINED_VIA, ""), generation_of(annotations),
        )  # fmt: skip


def generation_of(annotations: Mapping[str, str]) -> int:
    """How often a pod was joined so far."""
    text = annotations.get(GENERATION, "")
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else 0


def intent(annotations: Mapping[str, str], contact: str, incarnation: str) -> dict[str, str]:
    """What stands on a pod while its peer is being joined."""
    return {**cleared(annotations), JOINING: f"{contact} {incarnation}"}


def intended(annotations: Mapping[str, str]) -> str:
    """The incarnation that was about to be joined; empty if none was."""
    return annotations.get(JOINING, "").rpartition(" ")[2]


def cleared(annotations: Mapping[str, str]) -> dict[str, str]:
    """What stays of a record when the membership is over."""
    return {key: annotations[key] for key in (INCARNATION, GENERATION) if key in annotations}
