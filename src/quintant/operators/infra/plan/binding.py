"""Step 2: what a Cluster is bound to is missing, is elsewhere, or was never made here. Pure."""

from __future__ import annotations

from quintant.operators.infra.api.names import SecretKeyRef
from quintant.operators.infra.observed.answers import InfrastructureState
from quintant.operators.infra.observed.cluster import ClusterMemory, Observed
from quintant.operators.infra.observed.kubeconfig import NoKubeconfig, checked
from quintant.operators.infra.plan.decision import RARELY, PassDecision, note
from quintant.operators.infra.plan.failures import reachable
from quintant.operators.infra.plan.status import (
    BINDING_MISMATCH,
    CLOUD_RESOLVED,
    INFRASTRUCTURE_READY,
    KUBECONFIG_READY,
    STALLED,
    StatusChange,
    claim,
    over,
)


def unbound(observed: Observed) -> PassDecision:
    """Nothing is bound, or something that it is bound to is not there: watches wake us."""
    if observed.unresolved is None:
        return PassDecision()
    reason, message = observed.unresolved.reason, observed.unresolved.message
    claims = [claim(CLOUD_RESOLVED, False, reason, message)]
    if observed.status.cluster_id:
        claims.append(claim(INFRASTRUCTURE_READY, False, reason, message))
    else:
        claims.append(claim(STALLED, True, reason, message))
    return PassDecision(StatusChange(claims=tuple(claims)), after=observed.observe_interval)


def registered(observed: Observed) -> PassDecision:
    """A cluster that the user made: only its kubeconfig is looked at."""
    ref = observed.cluster.spec.kubeconfig_secret_ref
    assert ref is not None, "the API server asks for one of both"
    key = ref.key or "value"
    if observed.kubeconfig is None:
        message = f"Secret {ref.name} with key {key} is not there"
        return _unusable(observed, "SecretNotFound", message)
    observer = observed.cluster.spec.observer
    insecure = observer is not None and observer.insecure_skip_tls_verify
    kubeconfig = checked(observed.kubeconfig, insecure=insecure)
    if isinstance(kubeconfig, NoKubeconfig):
        return _unusable(observed, kubeconfig.reason, kubeconfig.message)
    fields = {
        "kubeconfig_secret_ref": SecretKeyRef(name=ref.name, key=key),
        "api_server_endpoint": kubeconfig.server,
    }
    condition_claim = claim(KUBECONFIG_READY, True, "Given", f"it is in Secret {ref.name}")
    return PassDecision(StatusChange(fields, (condition_claim,)), after=observed.observe_interval)


def _unusable(observed: Observed, reason: str, message: str) -> PassDecision:
    condition_claim = claim(KUBECONFIG_READY, False, reason, message)
    return PassDecision(StatusChange(claims=(condition_claim,)), after=observed.observe_interval)


def mismatch(observed: Observed) -> PassDecision:
    """The names lead elsewhere now: right only if the infrastructure is found there."""
    assert observed.binding is not None, "it leads somewhere"
    if isinstance(observed.state, InfrastructureState):
        cloud = observed.binding.cloud.metadata.name
        event = note("Rebound", f"found the infrastructure through the new address of {cloud}")
        claims = (reachable(observed), *over(observed.status.conditions, BINDING_MISMATCH, False))
        stalled = over(observed.status.conditions, STALLED, False)
        change = StatusChange({"running_on": observed.binding.snapshot}, (*claims, *stalled))
        return PassDecision(
            change, events=(event,), after=observed.poll_min, memory=ClusterMemory()
        )
    message = (
        "cloud or provider were made anew or have another address, where the infrastructure is not"
        " found; put back what was there, or let the Cluster go with quintant.dev/release=true"
    )
    claims = (
        claim(BINDING_MISMATCH, True, "OtherEndpoint", message),
        claim(STALLED, True, BINDING_MISMATCH, message),
    )
    return PassDecision(StatusChange(claims=claims), after=RARELY)
