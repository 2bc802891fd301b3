"""The end of step 7: the kubeconfig is saved, and the Cluster is CONNECTING. Pure.

The Secret is written first, the status after it: CONNECTING always has a kubeconfig. The same is
done when somebody changed the Secret, and once whenever the cluster goes out of reach: its address
may be another one.
"""

from __future__ import annotations

from dataclasses import replace

from quintant.api.meta import ConditionClaim, condition_of
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.api.names import SecretKeyRef
from quintant.operators.infra.builders import KUBECONFIG_KEY, secret_name
from quintant.operators.infra.observe.answers import ErrorClass, Failure
from quintant.operators.infra.observe.kubeconfig import (
    NoKubeconfig,
    UsableKubeconfig,
    kubeconfig_of,
)
from quintant.operators.infra.observe.observed import ClusterMemory, Observed, secret_value
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


def save(seen: Observed) -> PassDecision:
    """What follows from the outputs of an infrastructure."""
    match seen.outputs:
        case Failure(kind=ErrorClass.NOT_FOUND) as failure:
            return denied(seen, failure)
        case Failure(reason=reason) as failure if reason == TEMPLATE_LOST:
            return _lost(seen, failure)
        case Failure() as failure:
            return failed(seen, failure)
        case None:
            return PassDecision(after=seen.poll_min)
        case outputs:
            insecure = _insecure(seen)
            match kubeconfig_of(outputs, insecure=insecure):
                case NoKubeconfig() as none:
                    return _none(seen, none)
                case UsableKubeconfig() as found:
                    return _found(seen, found)


def _insecure(seen: Observed) -> bool:
    observer = seen.cluster.spec.observer
    return observer is not None and observer.insecure_skip_tls_verify


def _lost(seen: Observed, failure: Failure) -> PassDecision:
    """The provider lost the template in a crash of its own: it gets it again."""
    operation = Operation(type="Reconfigure", phase="Waiting")
    told = claim(INFRASTRUCTURE_READY, False, TEMPLATE_LOST, failure.message)
    return PassDecision(
        StatusChange({"operation": operation}, (reachable(seen), told)),
        after=SOON,
        memory=ClusterMemory(),
    )


def _none(seen: Observed, none: NoKubeconfig) -> PassDecision:
    """There is none, or none that may be used: the Cluster does not go on without."""
    tries = seen.memory.empty_outputs + 1
    memory = replace(seen.memory, empty_outputs=tries, looked=seen.now, failures=0)
    claims = [reachable(seen), claim(KUBECONFIG_READY, False, none.reason, none.message)]
    after = backoff(tries, EMPTY_SECONDS, EMPTY_CAP)
    if not none.missing or tries >= EMPTY_LOOKS:
        claims.append(claim(STALLED, True, none.reason, none.message))
        after = RARELY
    return PassDecision(StatusChange(claims=tuple(claims)), after=after, memory=memory)


def _found(seen: Observed, found: UsableKubeconfig) -> PassDecision:
    raw = found.text.encode()
    saved = secret_value(seen.secret, KUBECONFIG_KEY) == raw and not edited(seen)
    if not saved:
        told = claim(KUBECONFIG_READY, False, DRIFTED, "the Secret is not what the provider gave")
        drifted = edited(seen) and seen.status.kubeconfig_secret_ref is not None
        record = StatusChange(claims=(told,)) if drifted else None
        act = Act(Action.SAVE, record, kubeconfig=found.text, server=found.server)
        return PassDecision(act=act, after=SOON)
    return saved_as(seen, found, new=False)


def stored(seen: Observed, saved: UsableKubeconfig, failure: str) -> PassDecision:
    """After the Secret was written, or could not be."""
    if failure:
        told = claim(KUBECONFIG_READY, False, NAME_TAKEN, failure)
        stalled = claim(STALLED, True, NAME_TAKEN, failure)
        return PassDecision(StatusChange(claims=(told, stalled)), after=RARELY)
    return saved_as(seen, saved, new=True)


def saved_as(seen: Observed, found: UsableKubeconfig, *, new: bool) -> PassDecision:
    """The Secret holds the kubeconfig: the operation is over, and the observer's turn begins."""
    name, over = secret_name(seen.cluster.metadata.name), seen.status.operation is not None
    fields: dict[str, object] = {
        "kubeconfig_secret_ref": SecretKeyRef(name=name, key=KUBECONFIG_KEY),
        "api_server_endpoint": found.server,
        "operation": None,
    }
    claims = [reachable(seen), claim(KUBECONFIG_READY, True, SAVED, f"it is in Secret {name}")]
    if in_sync(seen):
        claims.append(claim(SYNCED, True, "Applied", "the provider has the template"))
    if new or over:
        claims += _observed_anew()
    events = (note("KubeconfigSaved", f"the kubeconfig is in Secret {name}"),) if new else ()
    if over:
        events = (note("Configured", "all machines are configured"), *events)
    claims += unstalled(seen)
    memory = replace(
        seen.memory, empty_outputs=0, failures=0, refreshed=_since(seen), failed_with=""
    )
    return PassDecision(
        StatusChange(fields, tuple(claims)),
        events=events,
        after=seen.observe_interval,
        memory=memory,
    )


def _observed_anew() -> list[ConditionClaim]:
    """What was known of the cluster is forgotten: it is CONNECTING."""
    said = "its API server was not asked yet"
    return [
        claim(API_SERVER_REACHABLE, None, CONNECTING, said),
        claim(NODES_HEALTHY, None, CONNECTING, said),
    ]


def _since(seen: Observed) -> str:
    reached = condition_of(seen.status.conditions, API_SERVER_REACHABLE)
    known = reached is not None and reached.status == "False"
    return (reached.last_transition_time or "") if reached is not None and known else ""
