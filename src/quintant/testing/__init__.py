"""The kit for testing controllers: virtual time, an in-process cluster, faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from quintant.lazy import lazy

if TYPE_CHECKING:
    from quintant.testing.cluster import InProcessCluster, named
    from quintant.testing.explore.campaign import explore_scenario, replay_run, run_tokens
    from quintant.testing.explore.injection.fault import FaultMode
    from quintant.testing.explore.other_cluster import OtherCluster
    from quintant.testing.explore.remote import Ledger, RemoteModel, effect
    from quintant.testing.explore.report.exploration import ExplorationFailure, ExplorationReport
    from quintant.testing.explore.scenario import Scenario, scenario
    from quintant.testing.explore.simulation.scenario_world import ScenarioWorld
    from quintant.testing.explore.specs.campaign import explore_specs
    from quintant.testing.explore.specs.scenario import SpecScenario
    from quintant.testing.faults.match import anything, kind, path, verb, watch, writes
    from quintant.testing.faults.transport import FaultTransport
    from quintant.testing.loop import VirtualLoop, advance, run, settle
    from quintant.testing.once import OnceOutcome, RecordedEvent, RecordedWrite, reconcile_once
    from quintant.testing.privileges import GrantedAccount, grant
    from quintant.testing.world import World

_HOMES = {
    "ExplorationFailure": "quintant.testing.explore.report.exploration",
    "Ledger": "quintant.testing.explore.remote",
    "FaultMode": "quintant.testing.explore.injection.fault",
    "RemoteModel": "quintant.testing.explore.remote",
    "ExplorationReport": "quintant.testing.explore.report.exploration",
    "Scenario": "quintant.testing.explore.scenario",
    "ScenarioWorld": "quintant.testing.explore.simulation.scenario_world",
    "SpecScenario": "quintant.testing.explore.specs.scenario",
    "effect": "quintant.testing.explore.remote",
    "explore_scenario": "quintant.testing.explore.campaign",
    "explore_specs": "quintant.testing.explore.specs.campaign",
    "replay_run": "quintant.testing.explore.campaign",
    "scenario": "quintant.testing.explore.scenario",
    "run_tokens": "quintant.testing.explore.campaign",
    "GrantedAccount": "quintant.testing.privileges",
    "FaultTransport": "quintant.testing.faults.transport",
    "InProcessCluster": "quintant.testing.cluster",
    "RecordedEvent": "quintant.testing.once",
    "OtherCluster": "quintant.testing.explore.other_cluster",
    "OnceOutcome": "quintant.testing.once",
    "VirtualLoop": "quintant.testing.loop",
    "World": "quintant.testing.world",
    "RecordedWrite": "quintant.testing.once",
    "advance": "quintant.testing.loop",
    "anything": "quintant.testing.faults.match",
    "grant": "quintant.testing.privileges",
    "kind": "quintant.testing.faults.match",
    "named": "quintant.testing.cluster",
    "path": "quintant.testing.faults.match",
    "reconcile_once": "quintant.testing.once",
    "run": "quintant.testing.loop",
    "settle": "quintant.testing.loop",
    "verb": "quintant.testing.faults.match",
    "watch": "quintant.testing.faults.match",
    "writes": "quintant.testing.faults.match",
}

__all__ = [
    "ExplorationFailure",
    "ExplorationReport",
    "FaultMode",
    "FaultTransport",
    "GrantedAccount",
    "InProcessCluster",
    "Ledger",
    "OnceOutcome",
    "OtherCluster",
    "RecordedEvent",
    "RecordedWrite",
    "RemoteModel",
    "Scenario",
    "ScenarioWorld",
    "SpecScenario",
    "VirtualLoop",
    "World",
    "advance",
    "anything",
    "effect",
    "explore_scenario",
    "explore_specs",
    "grant",
    "kind",
    "named",
    "path",
    "reconcile_once",
    "replay_run",
    "run",
    "run_tokens",
    "scenario",
    "settle",
    "verb",
    "watch",
    "writes",
]

__getattr__: Final = lazy(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
