"""What to do about a Cluster: the step it is at, and what that step needs now. Pure.

    Observed ──question──> Observed with an answer ──plan──> Decision ──act──> answer ──conclude──>

`question` says what the provider is asked first, and `follow_up` what besides; `plan` says what
follows from the answers, and `conclude` what follows from the answer to the one call that changes
something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quintant.api.meta import Condition, ConditionClaim, condition_of
from quintant.core.object import replace as changed
from quintant.operators.infra.api.names import SecretKeyRef
from quintant.operators.infra.builders import inline_secrets
from quintant.operators.infra.observe.answers import Failure, InfrastructureState
from quintant.operators.infra.observe.kubeconfig import NoKubeconfig, UsableKubeconfig, checked
from quintant.operators.infra.observe.observed import ClusterMemory, Observed, ProviderQuestion
from quintant.operators.infra.plan import steps
from quintant.operators.infra.plan.create import create, created
from quintant.operators.infra.plan.decision import RARELY, Act, Action, PassDecision, note
from quintant.operators.infra.plan.delete_request import asked
from quintant.operators.infra.plan.deletion import delete, deletion_question, tidy
from quintant.operators.infra.plan.failures import reachable
from quintant.operators.infra.plan.reconfigure import reconfigure, reconfigured, replaced
from quintant.operators.infra.plan.save import save, stored
from quintant.operators.infra.plan.status import (
    BINDING_MISMATCH,
    CLOUD_RESOLVED,
    INFRASTRUCTURE_READY,
    INLINE_SECRETS,
    KUBECONFIG_READY,
    PAUSED,
    STALLED,
    StatusChange,
    claim,
    is_true,
)
from quintant.operators.infra.plan.steps import Step, step
from quintant.operators.infra.plan.update import update
from quintant.operators.infra.plan.wait import finished, look

__all__ = ["asked", "conclude", "follow_up", "plan", "question"]


def question(seen: Observed) -> ProviderQuestion | None:
    """What the provider is asked before anything is decided."""
    if seen.cluster.deleting:
        return deletion_question(seen)
    if seen.status.duplicates and seen.binding is not None and not seen.paused:
        return ProviderQuestion.STATE
    return steps.question(again(seen))


def follow_up(seen: Observed) -> ProviderQuestion | None:
    """What the provider is asked besides, once it has said how an infrastructure is."""
    if seen.cluster.deleting or seen.status.duplicates:
        return None
    fresh = again(seen)
    done = step(fresh) is Step.WAIT and finished(fresh)
    return ProviderQuestion.OUTPUTS if done else None


def plan(seen: Observed, token: str) -> PassDecision:
    """What follows from what was observed; `token` is for an infrastructure that is begun now."""
    if seen.cluster.deleting:
        return delete(seen).plus(_noted(seen))
    if seen.status.duplicates and seen.binding is not None and not seen.paused:
        return tidy(seen)
    fresh = again(seen)
    return _stepped(fresh, token).plus(_retried(seen, fresh) + _noted(seen))


def _stepped(seen: Observed, token: str) -> PassDecision:
    match step(seen):
        case Step.PAUSED:
            said = "it is paused: nothing is done at the provider"
            return PassDecision(StatusChange(claims=(claim(PAUSED, True, "Paused", said),)))
        case Step.UNBOUND:
            return _unbound(seen)
        case Step.REGISTERED:
            return _registered(seen)
        case Step.MISMATCH:
            return _mismatch(seen)
        case Step.CREATE:
            return create(seen, token)
        case Step.UPDATE:
            return update(seen)
        case Step.RECONFIGURE:
            return reconfigure(seen)
        case Step.SAVE:
            return save(seen)
        case _:
            return _looked(seen)


def _looked(seen: Observed) -> PassDecision:
    """What follows from a state; if it is done, and its outputs are known, that it is saved."""
    decision = look(seen)
    if seen.outputs is None:
        return decision
    status = decision.change.on(seen.cluster, seen.status, seen.now)
    memory = decision.memory or seen.memory
    saved = save(replace(seen, cluster=changed(seen.cluster, status=status), memory=memory))
    return replace(saved, memory=saved.memory or memory).plus(decision.change)


def conclude(seen: Observed, act: Act, answer: object) -> PassDecision:
    """What follows from the answer to an action; `seen` has what was recorded before it."""
    return _concluded(seen, act, answer).plus(act.besides)


def _concluded(seen: Observed, act: Act, answer: object) -> PassDecision:
    match act.action, answer:
        case Action.CREATE, str() | Failure():
            return created(seen, answer)
        case Action.DELETE, None | Failure() if seen.cluster.deleting:
            return asked(seen, answer)
        case Action.RECONFIGURE, None | Failure():
            return reconfigured(seen, answer)
        case Action.REPLACE, None | Failure():
            return replaced(seen, answer)
        case Action.SAVE, str():
            return stored(seen, UsableKubeconfig(act.kubeconfig, act.server), answer)
    return PassDecision()


def again(seen: Observed) -> Observed:
    """The same after a wish to try again: attempts are counted from none, and nothing waits."""
    if not seen.retry:
        return seen
    status, operation = seen.status, seen.status.operation
    if operation is not None:
        operation = changed(operation, attempt=0, not_before=None)
    conditions = tuple(each for each in status.conditions if each.type != STALLED)
    status = changed(status, operation=operation, conditions=conditions)
    return replace(seen, cluster=changed(seen.cluster, status=status), memory=ClusterMemory())


def _retried(seen: Observed, fresh: Observed) -> StatusChange:
    if not seen.retry:
        return StatusChange()
    fields: dict[str, object] = {"handled_retry": seen.retry}
    if fresh.status.operation != seen.status.operation:
        fields["operation"] = fresh.status.operation
    stalled = is_true(seen.status.conditions, STALLED)
    return StatusChange(fields, (claim(STALLED, False, "Retried", "as asked"),) if stalled else ())


def _noted(seen: Observed) -> StatusChange:
    """What is true of it at any step."""
    generation = seen.cluster.metadata.generation
    claims = [*_over(seen.status.conditions, PAUSED, seen.paused)]
    if seen.binding is not None:
        name = seen.binding.cloud.metadata.name
        claims.append(claim(CLOUD_RESOLVED, True, "Resolved", f"{name} and its provider are there"))
    secrets = list(inline_secrets(seen.cluster.spec.tosca))
    if secrets:
        said = f"inputs {', '.join(secrets)} have values that everybody sees who may read Clusters"
        claims.append(claim(INLINE_SECRETS, True, "InlineSecrets", said))
    else:
        claims += _over(seen.status.conditions, INLINE_SECRETS, False)
    claims += _bound(seen)
    # Who waits for a cloud is the scheduler's, which writes anyway.
    waits = step(seen) is Step.UNBOUND and seen.unresolved is None
    fields: dict[str, object] = {} if waits else {"observed_generation": generation}
    if seen.binding is not None:
        inherited = seen.binding.cloud.metadata.labels if seen.cluster.spec.inherit_labels else {}
        fields["inherited_labels"] = dict(inherited)
    return StatusChange(fields, tuple(claims))


def _over(conditions: Sequence[Condition], type: str, holds: bool) -> list[ConditionClaim]:
    """That a condition is over, where it was said that it is not."""
    known = condition_of(conditions, type)
    if holds or known is None or known.status != "True":
        return []
    return [claim(type, False, "Over", "")]


def _bound(seen: Observed) -> list[ConditionClaim]:
    to, on = seen.status.scheduled_to, seen.status.running_on
    if to is not None and on is not None and (to.kind, to.name) != (on.kind, on.name):
        said = f"it runs on {on.kind} {on.name} and stays there; scheduledTo is {to.name}"
        return [claim(BINDING_MISMATCH, True, "NotMoved", said)]
    if steps.elsewhere(seen):
        return []
    return _over(seen.status.conditions, BINDING_MISMATCH, False)


def _unbound(seen: Observed) -> PassDecision:
    """Nothing is bound, or something that it is bound to is not there: watches wake us."""
    if seen.unresolved is None:
        return PassDecision()
    reason, said = seen.unresolved.reason, seen.unresolved.message
    claims = [claim(CLOUD_RESOLVED, False, reason, said)]
    if seen.status.cluster_id:
        claims.append(claim(INFRASTRUCTURE_READY, False, reason, said))
    else:
        claims.append(claim(STALLED, True, reason, said))
    return PassDecision(StatusChange(claims=tuple(claims)), after=seen.observe_interval)


def _mismatch(seen: Observed) -> PassDecision:
    """The names lead elsewhere now: right only if the infrastructure is found there."""
    assert seen.binding is not None, "it leads somewhere"
    if isinstance(seen.state, InfrastructureState):
        cloud = seen.binding.cloud.metadata.name
        event = note("Rebound", f"found the infrastructure through the new address of {cloud}")
        claims = (reachable(seen), *_over(seen.status.conditions, BINDING_MISMATCH, False))
        stalled = _over(seen.status.conditions, STALLED, False)
        change = StatusChange({"running_on": seen.binding.snapshot}, (*claims, *stalled))
        return PassDecision(change, events=(event,), after=seen.poll_min, memory=ClusterMemory())
    said = (
        "cloud or provider were made anew or have another address, where the infrastructure is not"
        " found; put back what was there, or let the Cluster go with quintant.dev/release=true"
    )
    claims = (
        claim(BINDING_MISMATCH, True, "OtherEndpoint", said),
        claim(STALLED, True, BINDING_MISMATCH, said),
    )
    return PassDecision(StatusChange(claims=claims), after=RARELY)


def _registered(seen: Observed) -> PassDecision:
    """A cluster that somebody else made: only its kubeconfig is looked at."""
    ref = seen.cluster.spec.kubeconfig_secret_ref
    assert ref is not None, "the API server asks for one of both"
    key = ref.key or "value"
    if seen.kubeconfig is None:
        said = f"Secret {ref.name} with key {key} is not there"
        return _unusable(seen, "SecretNotFound", said)
    observer = seen.cluster.spec.observer
    insecure = observer is not None and observer.insecure_skip_tls_verify
    found = checked(seen.kubeconfig, insecure=insecure)
    if isinstance(found, NoKubeconfig):
        return _unusable(seen, found.reason, found.message)
    fields = {
        "kubeconfig_secret_ref": SecretKeyRef(name=ref.name, key=key),
        "api_server_endpoint": found.server,
    }
    told = claim(KUBECONFIG_READY, True, "Given", f"it is in Secret {ref.name}")
    return PassDecision(StatusChange(fields, (told,)), after=seen.observe_interval)


def _unusable(seen: Observed, reason: str, said: str) -> PassDecision:
    told = claim(KUBECONFIG_READY, False, reason, said)
    return PassDecision(StatusChange(claims=(told,)), after=seen.observe_interval)
