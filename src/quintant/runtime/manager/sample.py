"""A sample of what an operator is for: manifests to apply, and how to see that they came true.

Each operator has one in its module `sample`. The demo applies it; a user reads it first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import quintant
from quintant.core.yaml import load_all
from quintant.runtime.cache.client import Client

NOBODY = 65532
"""The user of Quintant's image, and of other images in a sample."""


class SampleProgress(NamedTuple):
    """What is seen of a sample at some moment."""

    done: bool
    message: str
    """In a few words: how far it is, or what is there now that it is done."""
    lines: tuple[str, ...] = ()
    """What more there is to print at the end, a line each."""


Look = Callable[[Client], Awaitable[SampleProgress]]
"""Called again and again until it is done; it may do what a user of the sample would do."""


@dataclass(frozen=True, slots=True)
class RealProgram:
    """What a sample simulates, if a user has the real thing: then that is shown instead."""

    image: str
    command: str
    """The user's image table has to have this command of this image."""
    sample: Callable[[], Sample]


@dataclass(frozen=True, slots=True)
class Sample:
    """Manifests in namespaces of their own, and a way to look at what became of them."""

    namespace: str
    """Of manifests that name none."""
    manifests: tuple[Mapping[str, Any], ...]
    """In the order in which they are applied; what has no namespace, as Nodes, may be there."""
    look: Look
    tries: tuple[str, ...]
    """Commands a user may try next."""
    also: tuple[str, ...] = ()
    """Further namespaces of the sample."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Variables of the operator's environment that it needs to serve the sample."""
    real: RealProgram | None = None
    """What takes the place of the sample where it can."""
    node_grace: float | None = None
    """Seconds after which a silent node should be given up, where a look waits for that."""

    @property
    def namespaces(self) -> tuple[str, ...]:
        """All of its namespaces; they are made before anything else."""
        return self.namespace, *self.also


def restricted(pod: Mapping[str, Any]) -> dict[str, Any]:
    """The spec of a pod with what the Pod Security Standard `restricted` asks for.

    Its programs are those of images that may name no user, so the pod names one. They ask no API
    server, and get no token of it.
    """
    person = {"runAsUser": NOBODY, "runAsGroup": NOBODY, "runAsNonRoot": True}
    confined = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    return {
        **pod,
        "automountServiceAccountToken": False,
        "securityContext": {**person, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{**each, "securityContext": confined} for each in pod["containers"]],
    }


def example(name: str) -> Path:
    """Where an example is: beside the package when installed, else in the repository."""
    package = Path(quintant.__file__).parent
    installed = package / "examples" / name
    return installed if installed.exists() else package.parents[1] / "examples" / name


def manifests(path: Path) -> tuple[Mapping[str, Any], ...]:
    """The documents of a YAML file."""
    return tuple(load_all(path.read_bytes(), path.name))
