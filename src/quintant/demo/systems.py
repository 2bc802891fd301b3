"""The systems of the demo: each an operator as a pod, and its sample."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.core import codec
from quintant.core.errors import ConfigError
from quintant.demo import greeter
from quintant.operators import OPERATORS, manager_of
from quintant.runtime.manager.loading import load_manager
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.manifests import DeploymentOptions, install_manifests
from quintant.runtime.manager.sample import Sample
from quintant.runtime.shard.process import new_group
from quintant.version import QUINTANT

IMAGE = f"quintant:{QUINTANT}"
# One replica of each, so there is no other to compete with; of those that are sharded, two.
_ALONE, _SHARDED = ("--no-leader-elect",), ("--shards",)
_FLAGS = ("--log-format=console",)
SHARDED = frozenset({"portal"})
MEMBERS = 2


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
        found = [obj for objects in parts.values() for obj in objects]
        at = next(index for index, obj in enumerate(found) if obj["kind"] == "Deployment")
        return [*found[:at], *self._group(), *found[at:]]

    @property
    def member_tries(self) -> tuple[str, ...]:
        """Commands that show how its members share the work; none if there is one process."""
        if self.manager.settings.shards is None:
            return ()
        pods = f"kubectl -n {self.namespace} get pods -o name"
        return (
            f"quintant shards {self.manager.name} -n {self.namespace}",
            f"{pods} | head -n 1 | xargs kubectl -n {self.namespace} delete --now",
        )

    def _group(self) -> list[dict[str, Any]]:
        """The Lease of its members: the cluster is new, so the first has nobody to wait for."""
        shards = self.manager.settings.shards
        if shards is None:
            return []
        declared = self.manager.declarations
        return [codec.to_plain(new_group(self.manager.name, self.namespace, shards, declared))]


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
    sharded = name in SHARDED
    manager, installed = manager_of(name, shards=sharded), OPERATORS[name]
    manager.configure(leader_elect=False)
    program = DeploymentOptions(
        IMAGE,
        ("operator", name, *(_SHARDED if sharded else _ALONE), *_FLAGS),
        replicas=MEMBERS if sharded else 1,
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
    program = DeploymentOptions(greeter.IMAGE, (*_ALONE, *_FLAGS))
    manager = load_manager(str(greeter.EXAMPLE))
    title, home = "keeps a greeting", "greeter-system"
    return System("greeter", title, manager, home, program, greeter.SAMPLE)
