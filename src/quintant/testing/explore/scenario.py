"""A scenario: managers, what users and the world do, and what must hold.

    class Greeting(Scenario):
        def managers(self, world):
            manager = Manager("greeter")
            manager.controls(Greeter).owns(ConfigMap).reconcile(reconcile)
            return [manager]

        async def script(self, world):
            await world.create(Greeter(metadata=named("a"), spec=GreeterSpec(message="hi")))
            await world.quiet()

Every run makes an object of the class, and everything it uses, afresh. `scenario` makes such a
class of a function.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, MutableSet, Sequence
from typing import TYPE_CHECKING, Any

from quintant.core.errors import ConfigError
from quintant.runtime.manager.manager import Manager
from quintant.testing.cluster import InProcessCluster
from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.explore.remote import RemoteModel

if TYPE_CHECKING:
    from quintant.testing.explore.simulation.scenario_world import ScenarioWorld

Document = dict[str, Any]
"""An object as plain data."""


class Scenario:
    """What is explored: subclass it, and say at least `managers` and `script`."""

    bound: float = 3600.0
    """Virtual seconds within which the world has to become quiet after each step."""
    calm: float = 2.0
    """Virtual seconds without any change after which it counts as quiet."""
    restart_after: float = 1.0
    """Virtual seconds until a process that was killed runs again."""
    replicas: int = 1
    """How many processes of each manager run from the start: members, where it is sharded."""
    modes: Collection[FaultMode | str] = tuple(FaultMode)
    """What is tried; a scenario whose managers need not stand something leaves it out."""
    secrets: Sequence[str] = ()
    """Texts that must not leave Secrets: not in logs, events, or any other object."""

    def managers(self, world: ScenarioWorld) -> Sequence[Manager]:
        """The programs under test, new ones at every call: a restarted process has no memory."""
        raise NotImplementedError

    def remotes(self) -> Mapping[str, RemoteModel]:
        """What is outside the cluster, new at every call; `world.remotes` has them by name."""
        return {}

    async def prepare(self, cluster: InProcessCluster) -> None:
        """Make what every run begins with; done once, and copied."""

    async def script(self, world: ScenarioWorld) -> None:
        """What users and the world do, with `await world.quiet()` between steps."""
        raise NotImplementedError

    def always(self, world: ScenarioWorld) -> None:
        """Raise AssertionError if what must hold after every write does not."""

    def settled(self, world: ScenarioWorld) -> None:
        """Raise AssertionError if what must hold at the end does not."""

    def normalise(self, document: Document) -> Document | None:
        """Take out of an object what may differ between runs; None leaves all of it out."""
        return document

    @classmethod
    def title(cls) -> str:
        """What people call it."""
        return cls.__name__


Script = Callable[["ScenarioWorld"], Awaitable[None]]


def scenario(
    managers: Callable[[ScenarioWorld], Sequence[Manager] | Manager],
    *,
    remotes: Callable[[], Mapping[str, RemoteModel]] = dict,
    always: Callable[[ScenarioWorld], None] | None = None,
    settled: Callable[[ScenarioWorld], None] | None = None,
    secrets: Sequence[str] = (),
    bound: float = Scenario.bound,
    calm: float = Scenario.calm,
) -> Callable[[Script], type[Scenario]]:
    """Make a scenario of an async function, its script."""

    def made(script: Script) -> type[Scenario]:
        members: dict[str, Any] = {
            "managers": lambda self, world: managers(world),
            "remotes": lambda self: remotes(),
            "script": lambda self, world: script(world),
            "secrets": secrets,
            "bound": bound,
            "calm": calm,
            "__doc__": script.__doc__,
            "__module__": script.__module__,
        }
        if always is not None:
            members["always"] = lambda self, world: always(world)
        if settled is not None:
            members["settled"] = lambda self, world: settled(world)
        return type(script.__name__, (Scenario,), members)

    return made


def scenarios_of(module: object) -> list[type[Scenario]]:
    """The scenarios that a module defines, in that order; those with an underscore are none."""
    return [
        value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, Scenario)
        and value.__module__ == getattr(module, "__name__", "")
        and not name.startswith("_")
    ]


def check_managers(made: Sequence[Manager] | Manager, known: MutableSet[Manager]) -> list[Manager]:
    """The managers of a scenario as a list; ConfigError if they are none, or were used before."""
    found = [made] if isinstance(made, Manager) else list(made)
    if not found or not all(isinstance(each, Manager) for each in found):
        raise ConfigError(
            "the scenario has no manager",
            because=f"managers() returned {made!r}",
            hint="return a list of managers that it makes: [Manager(...)]",
        )
    for each in found:
        if each in known:
            raise ConfigError(
                f"the scenario uses manager {each.name!r} twice",
                because="a process that was restarted would remember what it knew before",
                hint="make the manager, and what its reconcilers keep, inside managers()",
            )
    for each in found:
        known.add(each)
    return found
