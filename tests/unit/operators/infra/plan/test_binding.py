"""What is said of a Cluster whose cloud is missing or elsewhere, or that the user made."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from quintant.core import codec
from quintant.operators.infra.api import Cloud, Cluster, InfrastructureProvider
from quintant.operators.infra.api.cluster_status import CloudBinding
from quintant.operators.infra.observed.answers import ErrorClass as Class
from quintant.operators.infra.observed.answers import (
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observed.cluster import Binding, Observed, Unresolved
from quintant.operators.infra.plan.binding import mismatch, registered, unbound
from quintant.operators.infra.plan.decision import RARELY, PassDecision
from testbeds.infra import KUBECONFIG

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MISSING = Unresolved("CloudNotFound", "Cloud here is not there")


def made(kind: type[Any], spec: dict[str, Any], status: dict[str, Any] | None = None) -> Any:
    body = {"metadata": {"name": "here", "namespace": "default"}, "spec": spec, "status": status}
    return codec.decode(kind, codec.encode(body))


def observed(spec: dict[str, Any] | None = None, **status: Any) -> Observed:
    return Observed(made(Cluster, spec or {}, status), NOW)


def claims(decision: PassDecision) -> dict[str, tuple[str, str]]:
    """Status and reason of every condition that is claimed."""
    return {each.type: (str(each.status), each.reason) for each in decision.change.claims}


def test_cluster_that_waits_for_a_cloud_is_the_schedulers() -> None:
    assert unbound(observed()) == PassDecision()


def test_missing_cloud_stalls_what_was_not_made_and_fails_what_was() -> None:
    assert claims(unbound(replace(observed(), unresolved=MISSING))) == {
        "CloudResolved": ("False", "CloudNotFound"),
        "Stalled": ("True", "CloudNotFound"),
    }
    running = replace(observed(clusterID="inf-1"), unresolved=MISSING)
    assert claims(unbound(running))["InfrastructureReady"] == ("False", "CloudNotFound")


def test_kubeconfig_of_the_user_is_used_if_it_is_there_and_can_be() -> None:
    spec = {"kubeconfigSecretRef": {"name": "given"}}
    assert claims(registered(observed(spec))) == {"KubeconfigReady": ("False", "SecretNotFound")}
    text = KUBECONFIG.replace("SERVER", "made.example.com")
    decision = registered(replace(observed(spec), kubeconfig=text))
    assert claims(decision) == {"KubeconfigReady": ("True", "Given")}
    assert "made.example.com" in decision.change.fields["api_server_endpoint"]
    broken = registered(replace(observed(spec), kubeconfig="no kubeconfig"))
    assert claims(broken)["KubeconfigReady"][0] == "False"


def test_other_address_is_right_only_where_the_infrastructure_is_found() -> None:
    binding = Binding(
        made(Cloud, {"type": "dummy", "providerRef": {"name": "im"}}),
        made(InfrastructureProvider, {"type": "im"}),
        CloudBinding(kind="Cloud", name="here", endpoint_hash="e-2"),
        "f-1",
    )
    bound = replace(observed(clusterID="inf-1"), binding=binding)
    there = mismatch(replace(bound, state=InfrastructureState(InfrastructureWord.CONFIGURED)))
    assert there.change.fields == {"running_on": binding.snapshot}
    assert [each.reason for each in there.events] == ["Rebound"]
    absent = mismatch(replace(bound, state=Failure(Class.NOT_FOUND, "NotFound", "none")))
    assert claims(absent)["BindingMismatch"] == ("True", "OtherEndpoint")
    assert claims(absent)["Stalled"] == ("True", "BindingMismatch")
    assert absent.after == RARELY
