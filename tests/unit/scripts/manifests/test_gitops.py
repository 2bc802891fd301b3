"""Health checks for tools of GitOps are there for every kind, and Flux' judge every phase."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from manifests.files import DEPLOY
from manifests.gitops import EXPRESSIONS, SCRIPT
from quintant.cluster.apiserver.cel import CelError, compile_rule
from quintant.cluster.apiserver.cel.types import ANY
from testbeds.kstatus import PhaseRecord
from unit.operators.phases import PHASES

VARIABLES = {"metadata": ANY, "spec": ANY, "status": ANY}
LIMIT = 1_000_000
RULES = {name: compile_rule(text, VARIABLES) for name, text in EXPRESSIONS.items()}
VERDICTS = {"inProgress": "InProgress", "failed": "Failed", "current": "Current"}
"""By expression, in the order in which Flux evaluates them."""
phases = pytest.mark.parametrize("record", PHASES, ids=[each.name for each in PHASES])


def judged(obj: dict[str, Any]) -> str:
    """What Flux makes of an object; an expression that fails is tried again later."""
    observed = obj.get("status", {}).get("observedGeneration")
    if observed is not None and observed != obj["metadata"]["generation"]:
        return "InProgress"
    given = {name: obj[name] for name in VARIABLES if name in obj}
    for name, verdict in VERDICTS.items():
        try:
            if RULES[name].run(given, LIMIT).value:
                return verdict
        except CelError:
            return "InProgress"
    return "InProgress"


@phases
def test_flux_judges_each_phase_as_what_it_is(record: PhaseRecord) -> None:
    assert judged(record.wire) == record.verdict


@phases
def test_what_nobody_has_looked_at_is_not_current(record: PhaseRecord) -> None:
    wire = record.wire
    assert judged({**wire, "status": {}}) == "InProgress"
    assert judged({key: wire[key] for key in wire if key != "status"}) == "InProgress"
    newer = {**wire["metadata"], "generation": wire["metadata"]["generation"] + 1}
    assert judged({**wire, "metadata": newer}) == "InProgress"


def test_every_kind_has_a_check_in_both_files() -> None:
    kinds = {(each.wire["apiVersion"], each.wire["kind"]) for each in PHASES}
    flux = yaml.safe_load((DEPLOY / "flux/health-checks.yaml").read_text())
    checks = flux["spec"]["healthCheckExprs"]
    assert {(each["apiVersion"], each["kind"]) for each in checks} == kinds
    argo = yaml.safe_load((DEPLOY / "argocd/argocd-cm.yaml").read_text())["data"]
    keys = {f"{version.partition('/')[0]}_{kind}" for version, kind in kinds}
    assert argo == {
        f"resource.customizations.health.{key}": SCRIPT.read_text() for key in sorted(keys)
    }
