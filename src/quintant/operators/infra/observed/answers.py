"""What a provider of infrastructure says: states, machines, estimates, and how it fails.

Values only. Whatever a provider answers becomes one of these before anything is decided by it, so
that decisions know neither HTTP nor the provider's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from quintant.core.text import one_line

CLOUD_UNREACHABLE, IMPORT_UNREACHABLE = "CloudUnreachable", "ImportUnreachable"
"""Reasons: the provider answers, and does not reach what it needs."""
MESSAGE_LENGTH = 1024
"""Characters of a provider's text that a status may hold."""


class ErrorClass(Enum):
    """What follows from a failure."""

    TRANSIENT = "Transient"
    """It cannot be reached, or is overloaded: everything stays as it is, and it is asked again."""
    DISABLED = "Disabled"
    """It serves reads only, for now."""
    AUTH = "Auth"
    """It, or the cloud behind it, does not know us."""
    TEMPLATE = "TemplateInvalid"
    """It does not understand the template: only another template helps."""
    CONFIG = "Config"
    """It does not understand us: only the user can help."""
    REJECTED = "ProviderRejected"
    """It understood, and the cloud cannot do it: a quota, an image that is gone."""
    NOT_FOUND = "NotFound"
    """It says itself that there is no such infrastructure."""
    BUSY = "Busy"
    """It is at work on the infrastructure, and will not be interrupted."""
    INTERNAL = "Internal"
    """It failed, and does not say why."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that did not do what it should."""

    kind: ErrorClass
    reason: str
    """One word, for a condition."""
    message: str
    """At most 1 KiB, without secrets and without tracebacks."""
    http_status: int | None = None
    applied: bool | None = False
    """Whether the provider may have acted all the same; None if it is not known."""


class ProviderError(Exception):
    """A provider failed; `failure` says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.reason}: {one_line(failure.message)}")
        self.failure = failure


class InfrastructureWord(Enum):
    """The state of an infrastructure, in the provider's words."""

    PENDING = "pending"
    RUNNING = "running"
    CONFIGURED = "configured"
    UNCONFIGURED = "unconfigured"
    STOPPED = "stopped"
    OFF = "off"
    FAILED = "failed"
    UNKNOWN = "unknown"
    DELETING = "deleting"


@dataclass(frozen=True, slots=True)
class InfrastructureState:
    """An infrastructure at one moment."""

    word: InfrastructureWord
    machines: Mapping[str, str] = field(default_factory=dict)
    """The state of each machine, by id."""

    @property
    def settled(self) -> InfrastructureWord:
        """The state as a whole: one machine that is not configured makes all of it so."""
        unconfigured = InfrastructureWord.UNCONFIGURED
        if unconfigured.value in self.machines.values():
            return unconfigured if self.word is not InfrastructureWord.DELETING else self.word
        return self.word

    @property
    def waiting(self) -> bool:
        """Whether a machine is only being made."""
        return InfrastructureWord.PENDING.value in self.machines.values()

    def with_state(self, *words: str) -> tuple[str, ...]:
        """The machines in one of these states, in order."""
        return tuple(sorted(each for each, state in self.machines.items() if state in words))


@dataclass(frozen=True, slots=True)
class MachineDetails:
    """What is known of a machine beside its state; credentials are not kept."""

    name: str = ""
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a template would become, as the provider counts it; nothing was created."""

    machines: int
    clouds: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    """A line per machine: processors, memory, disks."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A long call that came to its end."""

    value: Any = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class NodeLook:
    """A node of a made cluster."""

    name: str
    ready: bool
    pressures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TargetLook:
    """One look at a made cluster: its nodes, or why there are none to see."""

    nodes: tuple[NodeLook, ...] = ()
    failure: str = ""
    message: str = ""


def cut_text(text: str, limit: int = MESSAGE_LENGTH) -> str:
    """A provider's text, as a status may hold it: its head, without the traceback of a server."""
    for mark in ("\n\t\tFile", "\n  File ", "Traceback (most recent call last)"):
        text = text.partition(mark)[0]
    return one_line(text, limit)


def tail_text(text: str, limit: int = MESSAGE_LENGTH) -> str:
    """The end of a log, where it says what failed."""
    return one_line(text[-4 * limit :], 4 * limit)[-limit:]
