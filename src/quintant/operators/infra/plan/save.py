"""The end of step 7: the kubeconfig is saved, and the Cluster is CONNECTING. Pure.

The Secret is written first, the status after it: CONNECTING always has a kubeconfig. The same is
done when another client changed the Secret, and once whenever the cluster goes out of reach: its
address may be another one.
"""

from __future__ import annotations

from dataclasses import replace

from quintant.api.meta import ConditionClaim, condition_of
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.api.names import SecretKeyRef
from quintant.operators.infra.builders import KUBECONFIG_KEY, secret_name
from quintant.operators.infra.observed.answers import ErrorClass, Failure
from quintant.operators.infra.observed.cluster import ClusterMemory, Observed, secret_value
from quintant.operators.infra.observed.kubeconfig import (
    NoKubeconfig,
    UsableKubeconfig,
    kubeconfig_of,
)
from quintant.operators.infra.plan.decision import (
    RARELY,
    SOON,
    Act,
    Action,
    PassDecision,
    backoff,
    note,
    unstalled,
)
from quintant.operators.infra.plan.failures import denied, failed, reachable
from quintant.operators.infra.plan.reconfigure import TEMPLATE_LOST
from quintant.operators.infra.plan.status import (
    API_SERVER_REACHABLE,
    CONNECTING,
    INFRASTRUCTURE_READY,
    KUBECONFIG_READY,
    NODES_HEALTHY,
    STALLED,
    SYNCED,
    StatusChange,
    claim,
)
from quintant.operators.infra.plan.steps import edited, in_sync

EMPTY_LOOKS = 5
EMPTY_SECONDS, EMPTY_CAP = 5.0, 60.0
SAVED = "Saved"
NAME_TAKEN = "NameTaken"
DRIFTED = "Drifted"


def save(observed: Observed) -> PassDecision:
    """What follows from the outputs of an infrastructure."""
    match observed.outputs:
        case Failure(kind=ErrorClass.NOT_FOUND) as failure:
            return denied(observed, failure)
        case Failure(reason=reason) as failure if reason == TEMPLATE_LOST:
            return _lost(observed, failure)
        case Failure() as failure:
            return failed(observed, failure)
        case None:
            return PassDecision(after=observed.poll_min)
        case outputs:
            insecure = _insecure(observed)
            match kubeconfig_of(outputs, insecure=insecure):
                case NoKubeconfig() as none:
                    return _none(observed, none)
                case UsableKubeconfig() as kubeconfig:
                    return _usable(observed, kubeconfig)


def _insecure(observed: Observed) -> bool:
    observer = observed.cluster.spec.observer
    return observer is not None and observer.insecure_skip_tls_verify


def _lost(observed: Observed, failure: Failure) -> PassDecision:
    """The provider lost the template in a crash of its own: it gets it again."""
    operation = Operation(type="Reconfigure", phase="Waiting")
    condition_claim = claim(INFRASTRUCTURE_READY, False, TEMPLATE_LOST, failure.message)
    return PassDecision(
        StatusChange({"operation": operation}, (reachable(observed), condition_claim)),
        after=SOON,
        memory=ClusterMemory(),
    )


def _none(observed: Observed, none: NoKubeconfig) -> PassDecision:
    """There is none, or none that may be used: the Cluster does not continue without."""
    tries = observed.memory.empty_outputs + 1
    memory = replace(observed.memory, empty_outputs=tries, looked=observed.now, failures=0)
    claims = [reachable(observed), claim(KUBECONFIG_READY, False, none.reason, none.message)]
    after = backoff(tries, EMPTY_SECONDS, EMPTY_CAP)
    if not none.missing or tries >= EMPTY_LOOKS:
        claims.append(claim(STALLED, True, none.reason, none.message))
        after = observed.poll_max
    return PassDecision(StatusChange(claims=tuple(claims)), after=after, memory=memory)


def _usable(observed: Observed, kubeconfig: UsableKubeconfig) -> PassDecision:
    raw = kubeconfig.text.encode()
    saved = secret_value(observed.secret, KUBECONFIG_KEY) == raw and not edited(observed)
    if not saved:
        condition_claim = claim(
            KUBECONFIG_READY, False, DRIFTED, "the Secret is not what the provider gave"
        )
        drifted = edited(observed) and observed.status.kubeconfig_secret_ref is not None
        record = StatusChange(claims=(condition_claim,)) if drifted else None
        act = Act(Action.SAVE, record, kubeconfig=kubeconfig.text, server=kubeconfig.server)
        act = replace(act, new=observed.secret is None)
        return PassDecision(act=act, after=SOON)
    return saved_as(observed, kubeconfig, new=False)


def stored(observed: Observed, saved: UsableKubeconfig, failure: str) -> PassDecision:
    """After the Secret was written, or could not be."""
    if failure:
        condition_claim = claim(KUBECONFIG_READY, False, NAME_TAKEN, failure)
        stalled = claim(STALLED, True, NAME_TAKEN, failure)
        return PassDecision(StatusChange(claims=(condition_claim, stalled)), after=RARELY)
    return saved_as(observed, saved, new=True)


def saved_as(observed: Observed, kubeconfig: UsableKubeconfig, *, new: bool) -> PassDecision:
    """The Secret holds the kubeconfig: the operation is over, and the observer's turn begins."""
    name, over = secret_name(observed.cluster.metadata.name), observed.status.operation is not None
    fields: dict[str, object] = {
        "kubeconfig_secret_ref": SecretKeyRef(name=name, key=KUBECONFIG_KEY),
        "api_server_endpoint": kubeconfig.server,
        "operation": None,
    }
    claims = [reachable(observed), claim(KUBECONFIG_READY, True, SAVED, f"it is in Secret {name}")]
    if in_sync(observed):
        claims.append(claim(SYNCED, True, "Applied", "the provider has the template"))
    if new or over:
        claims += _observed_anew()
    events = (note("KubeconfigSaved", f"the kubeconfig is in Secret {name}"),) if new else ()
    if over:
        events = (note("Configured", "all machines are configured"), *events)
    claims += unstalled(observed)
    memory = replace(
        observed.memory, empty_outputs=0, failures=0, refreshed=_since(observed), failed_with=""
    )
    return PassDecision(
        StatusChange(fields, tuple(claims)),
        events=events,
        after=observed.observe_interval,
        memory=memory,
    )


def _observed_anew() -> list[ConditionClaim]:
    """What was known of the cluster is forgotten: it is CONNECTING."""
    message = "its API server was not asked yet"
    return [
        claim(API_SERVER_REACHABLE, None, CONNECTING, message),
        claim(NODES_HEALTHY, None, CONNECTING, message),
    ]


def _since(observed: Observed) -> str:
    reached = condition_of(observed.status.conditions, API_SERVER_REACHABLE)
    known = reached is not None and reached.status == "False"
    return (reached.last_transition_time or "") if reached is not None and known else ""
