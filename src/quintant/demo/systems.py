"""The systems of the demo: each an operator as a pod, and its sample."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.core.errors import ConfigError
from quintant.demo import greeter
from quintant.operators import OPERATORS, manager_of
from quintant.runtime.manager.loading import load_manager
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.manifests import DeploymentOptions, install_manifests
from quintant.runtime.manager.sample import Sample
from quintant.version import QUINTANT

IMAGE = f"quintant:{QUINTANT}"
# One replica of each, so there is no other to compete with.
_FLAGS = ("--no-leader-elect", "--log-format=console")


@dataclass(frozen=True, slots=True)
class System:
    """An operator and what it is shown with."""

    name: str
    """What a user calls it; its manager may be called otherwise."""
    title: str
    manager: Manager
    namespace: str
    """Where the operator itself lives."""
    program: DeploymentOptions
    sample: Sample

    def installation(self) -> list[dict[str, Any]]:
        """What the operator needs, in the order in which it can be applied."""
        parts = install_manifests(self.manager, self.namespace, self.program)
        return [obj for objects in parts.values() for obj in objects]


def systems(
    only: Collection[str] = (), images: Collection[ImageProgram] = ()
) -> tuple[System, ...]:
    """All systems, or those that are named; ConfigError for a name that is none's.

    `images` is the user's image table: what it has real programs for is not simulated.
    """
    unknown = sorted(set(only) - {"greeter", *OPERATORS})
    if unknown:
        raise ConfigError(
            f"there is no system {unknown[0]!r}", hint=", ".join(["greeter", *sorted(OPERATORS)])
        )
    wanted = only or {"greeter", *OPERATORS}
    first = (_greeter(),) if "greeter" in wanted else ()
    return (*first, *(_operator(name, images) for name in OPERATORS if name in wanted))


def _operator(name: str, images: Iterable[ImageProgram]) -> System:
    sample = _chosen(import_module(f"quintant.operators.{name}.sample").SAMPLE, images)
    manager, installed = manager_of(name), OPERATORS[name]
    manager.configure(leader_elect=False)
    program = DeploymentOptions(
        IMAGE,
        ("operator", name, *_FLAGS),
        env=sample.settings,
        namespaces=installed.namespaces,
    )
    return System(name, installed.title, manager, installed.namespace, program, sample)


def _chosen(sample: Sample, images: Iterable[ImageProgram]) -> Sample:
    real = sample.real
    if real is None or not any(each.fits(real.image, [real.command]) for each in images):
        return sample
    return real.sample()


def _greeter() -> System:
    program = DeploymentOptions(greeter.IMAGE, _FLAGS)
    manager = load_manager(str(greeter.EXAMPLE))
    title, home = "keeps a greeting", "greeter-system"
    return System("greeter", title, manager, home, program, greeter.SAMPLE)
