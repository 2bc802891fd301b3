"""A scenario of specs: an object whose spec users change in every way, and what is around it.

class GreeterSpecs(SpecScenario):
    subject = Greeter(metadata=named("a"), spec=GreeterSpec(message="hi"))

    def managers(self, world):
        return [greeter_manager()]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy

import msgspec

from quintant.cluster.apiserver.patch.merge_patch import merge_patch
from quintant.core import codec
from quintant.core.errors import ConfigError
from quintant.core.object import Object
from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.explore.scenario import Document, Scenario
from quintant.testing.explore.simulation.scenario_world import ScenarioWorld
from quintant.testing.explore.specs.schema import Spec


class SpecScenario(Scenario):
    """What `--specs` explores: say `subject` and `managers`, and what is around them."""

    subject: Object
    """The object, with its namespace and a good spec."""
    without_effect: Mapping[str, str] = {}
    """Properties that show neither in a child nor in the status, as a failure names them, and why.
    One stands for all that are below it."""
    fixed: Collection[str] = ()
    """Properties that are left as they are, with all below them: what has a language of its own,
    such as a template, gets nothing but nonsense from its schema."""
    modes: Collection[FaultMode | str] = ()

    def hopeless(self, document: Document) -> bool:
        """Whether an object says that nothing can come of its spec.

        What is left of the spec before may stay then: only the way back is compared.
        """
        conditions = (document.get("status") or {}).get("conditions") or {}
        return bool(conditions.get("Stalled", {}).get("status") == "True")

    def normalise(self, document: Document) -> Document | None:
        """The order of conditions is that in which they were first written, and means nothing."""
        found = super().normalise(document)
        status = (found or {}).get("status") or {}
        if isinstance(status.get("conditions"), list):
            status["conditions"] = {each["type"]: each for each in status["conditions"]}
        return found

    async def surroundings(self, world: ScenarioWorld) -> None:
        """Do what comes before the object: classes, Services, a modelled kubelet."""

    async def script(self, world: ScenarioWorld) -> None:
        good = good_spec(self)
        await self.surroundings(world)
        for patch in world.specs or (b"{}",):
            await world.apply_spec(
                self.subject, merge_patch(deepcopy(good), msgspec.json.decode(patch))
            )
            await world.quiet()


def good_spec(scenario: SpecScenario | type[SpecScenario]) -> Spec:
    """The good spec of a scenario; ConfigError if it has none."""
    subject = getattr(scenario, "subject", None)
    document = msgspec.json.decode(codec.encode(subject)) if isinstance(subject, Object) else {}
    spec = document.get("spec")
    if not isinstance(spec, dict):
        raise ConfigError(
            f"cannot explore the specs of {scenario.title()}",
            because=f"its subject is {type(subject).__name__}, which has no spec",
            hint="subject = Greeter(metadata=named('a'), spec=GreeterSpec(message='hi'))",
        )
    return spec
