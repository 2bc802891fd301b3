"""What runs of a foreign program have in common, what one did, and what was shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from quintant.cluster.instance.pki import ClusterKeys
from quintant.testing.explore.foreign.generated_names import GeneratedNames, NameStem
from quintant.testing.explore.foreign.paced_loop import PaceOrigin
from quintant.testing.explore.foreign.program import ForeignCommand
from quintant.testing.explore.foreign.scenario_file import LoadedScenario
from quintant.testing.explore.foreign.servers.world_server import OpenServer
from quintant.testing.explore.foreign.states import Path, SelfDifference
from quintant.testing.explore.simulation.normalise import Normalised
from quintant.testing.explore.simulation.run import RunRecord


class ForeignSetup(Struct, frozen=True):
    """What all runs have in common."""

    scenario: LoadedScenario
    command: ForeignCommand
    keys: ClusterKeys
    open: OpenServer
    """Starts the server of a run."""
    origin: PaceOrigin
    variables: Mapping[str, str] = {}
    """Of the program's environment, beside those that it inherits."""


class Recording(Struct, frozen=True):
    """What undisturbed runs have shown, for others to be compared with."""

    states: tuple[Normalised | None, ...]
    """What is left of the worlds without what differs by itself; None where any will do."""
    differing: tuple[SelfDifference, ...] = ()
    watches: tuple[frozenset[str], ...] = ()
    """What was watched at the start, and at the end of each step."""
    polls: frozenset[str] = frozenset()
    stems: frozenset[NameStem] = frozenset()
    restless: frozenset[int] = frozenset()
    """Steps that need not get quiet."""

    @property
    def paths(self) -> list[Path]:
        """Where undisturbed runs do not agree."""
        return [each.path for each in self.differing]


@dataclass(slots=True)
class ForeignRecord(RunRecord):
    """What a run of a foreign program did, and what came of it."""

    watches: list[frozenset[str]] = field(default_factory=list)
    polls: set[str] = field(default_factory=set)
    names: GeneratedNames = field(default_factory=GeneratedNames)
    raw: list[Normalised] = field(default_factory=list)
    """The worlds before generated names are numbered."""
    hidden: Callable[[str], str] = str
    """Of a text, what is left without what Secrets of the run held."""
    elects: bool = False
    is_kopf: bool = False
    calm: float = 0.0
    seconds: float = 0.0
    """Real ones, from start to verdict."""
    start_seconds: float = 0.0
    """Of these, until the program was at work."""
