"""What to do about a Cluster: the step it is at, and what that step needs now. Pure.

    Observed ──question──> Observed with an answer ──plan──> Decision ──act──> answer ──conclude──>

`question` says what the provider is asked first, and `follow_up` what besides; `plan` says what
follows from the answers, and `conclude` what follows from the answer to the one call that changes
something.
"""

from __future__ import annotations

from dataclasses import replace

from quintant.api.meta import ConditionClaim, condition_of
from quintant.core.object import replace as changed
from quintant.operators.infra.builders import inline_secrets
from quintant.operators.infra.observed.answers import Failure
from quintant.operators.infra.observed.cluster import (
    Answer,
    BegunCall,
    ClusterMemory,
    Observed,
    ProviderQuestion,
)
from quintant.operators.infra.observed.kubeconfig import UsableKubeconfig
from quintant.operators.infra.plan import steps
from quintant.operators.infra.plan.binding import mismatch, registered, unbound
from quintant.operators.infra.plan.create import create, created
from quintant.operators.infra.plan.decision import Act, Action, PassDecision
from quintant.operators.infra.plan.delete_request import delete_answered
from quintant.operators.infra.plan.deletion import delete, deletion_question
from quintant.operators.infra.plan.ownership import (
    proof_question,
    prove,
    unproven,
    without_rivals,
)
from quintant.operators.infra.plan.reconfigure import reconfigure, reconfigured, replaced
from quintant.operators.infra.plan.removal import delete_duplicate
from quintant.operators.infra.plan.save import save, stored
from quintant.operators.infra.plan.status import (
    BINDING_MISMATCH,
    CLOUD_RESOLVED,
    INLINE_SECRETS,
    PAUSED,
    STALLED,
    SYNCED,
    StatusChange,
    claim,
    is_true,
    over,
)
from quintant.operators.infra.plan.steps import Step, step
from quintant.operators.infra.plan.update import update
from quintant.operators.infra.plan.wait import finished, look


def question(observed: Observed) -> ProviderQuestion | None:
    """What the provider is asked before anything is decided."""
    if unproven(observed):
        return proof_question(observed)
    if observed.cluster.deleting:
        return deletion_question(observed)
    if observed.status.duplicates and observed.binding is not None and not observed.paused:
        return ProviderQuestion.STATE
    return steps.question(with_retry(observed))


def follow_up(observed: Observed) -> ProviderQuestion | None:
    """What the provider is asked besides, once it has said how an infrastructure is."""
    if observed.cluster.deleting or observed.status.duplicates:
        return None
    fresh = with_retry(observed)
    done = step(fresh) is Step.WAIT and finished(fresh)
    return ProviderQuestion.OUTPUTS if done else None


def plan(observed: Observed, token: str) -> PassDecision:
    """What follows from what was observed; `token` is for an infrastructure that is begun now."""
    observed = without_rivals(observed)
    if (first := prove(observed)) is not None:
        return first.plus(_noted(observed))
    if observed.cluster.deleting:
        return delete(observed).plus(_noted(observed))
    if observed.status.duplicates and observed.binding is not None and not observed.paused:
        return delete_duplicate(observed)
    fresh = with_retry(observed)
    return _stepped(fresh, token).plus(_retried(observed, fresh) + _noted(observed))


def _stepped(observed: Observed, token: str) -> PassDecision:
    match step(observed):
        case Step.PAUSED:
            message = "it is paused: nothing is done at the provider"
            return PassDecision(StatusChange(claims=(claim(PAUSED, True, "Paused", message),)))
        case Step.UNBOUND:
            return unbound(observed)
        case Step.REGISTERED:
            return registered(observed)
        case Step.MISMATCH:
            return mismatch(observed)
        case Step.CREATE:
            return create(observed, token)
        case Step.UPDATE:
            return update(observed)
        case Step.RECONFIGURE:
            return reconfigure(observed)
        case Step.SAVE:
            return save(observed)
        case _:
            return _looked(observed)


def _looked(observed: Observed) -> PassDecision:
    """What follows from a state; if it is done, and its outputs are known, that it is saved."""
    decision = look(observed)
    if observed.outputs is None:
        return decision
    status = decision.change.on(observed.cluster, observed.status, observed.now)
    memory = decision.memory or observed.memory
    saved = save(replace(observed, cluster=changed(observed.cluster, status=status), memory=memory))
    return replace(saved, memory=saved.memory or memory).plus(decision.change)


def conclude(observed: Observed, decision: PassDecision, answer: Answer) -> PassDecision:
    """What a pass ends with, by the answer to its call; `observed` has the record of that."""
    memory, act = decision.memory or observed.memory, decision.act
    if act is None:
        return replace(decision, memory=memory)
    if isinstance(answer, BegunCall):
        begun = replace(memory, call=answer.id, serial=answer.serial) if answer.id else memory
        return PassDecision(after=decision.after, memory=begun)
    ended = _concluded(replace(observed, memory=memory), act, answer).plus(act.besides)
    after = ended.after if ended.after is not None else decision.after
    return replace(ended, after=after, memory=ended.memory or memory)


def _concluded(observed: Observed, act: Act, answer: Answer) -> PassDecision:
    match act.action, answer:
        case Action.CREATE, str() | Failure():
            return created(observed, answer)
        case Action.DELETE, None | Failure() if observed.cluster.deleting:
            return delete_answered(observed, answer)
        case Action.RECONFIGURE, None | Failure():
            return reconfigured(observed, answer)
        case Action.REPLACE, None | Failure():
            return replaced(observed, answer)
        case Action.SAVE, str():
            return stored(observed, UsableKubeconfig(act.kubeconfig, act.server), answer)
    return PassDecision()


def with_retry(observed: Observed) -> Observed:
    """The same after a wish to try again: attempts are counted from none, and nothing waits."""
    if not observed.retry:
        return observed
    status, operation = observed.status, observed.status.operation
    if operation is not None:
        operation = changed(operation, attempt=0, not_before=None)
    conditions = tuple(each for each in status.conditions if each.type != STALLED)
    status = changed(status, operation=operation, conditions=conditions)
    return replace(
        observed, cluster=changed(observed.cluster, status=status), memory=ClusterMemory()
    )


def _retried(observed: Observed, fresh: Observed) -> StatusChange:
    if not observed.retry:
        return StatusChange()
    fields: dict[str, object] = {"handled_retry": observed.retry}
    if fresh.status.operation != observed.status.operation:
        fields["operation"] = fresh.status.operation
    stalled = is_true(observed.status.conditions, STALLED)
    return StatusChange(fields, (claim(STALLED, False, "Retried", "as asked"),) if stalled else ())


def _noted(observed: Observed) -> StatusChange:
    """What is true of it at any step."""
    generation = observed.cluster.metadata.generation
    claims = [*over(observed.status.conditions, PAUSED, observed.paused)]
    if observed.binding is not None:
        name = observed.binding.cloud.metadata.name
        claims.append(claim(CLOUD_RESOLVED, True, "Resolved", f"{name} and its provider are there"))
    secrets = list(inline_secrets(observed.cluster.spec.tosca))
    if secrets:
        message = (
            f"inputs {', '.join(secrets)} have values that everybody sees who may read Clusters"
        )
        claims.append(claim(INLINE_SECRETS, True, "InlineSecrets", message))
    else:
        claims += over(observed.status.conditions, INLINE_SECRETS, False)
    claims += _synced(observed)
    claims += _bound(observed)
    # Who waits for a cloud is the scheduler's, which writes anyway.
    waits = step(observed) is Step.UNBOUND and observed.unresolved is None
    fields: dict[str, object] = {} if waits else {"observed_generation": generation}
    if observed.binding is not None:
        inherited = (
            observed.binding.cloud.metadata.labels if observed.cluster.spec.inherit_labels else {}
        )
        fields["inherited_labels"] = dict(inherited)
    return StatusChange(fields, tuple(claims))


def _synced(observed: Observed) -> list[ConditionClaim]:
    """Whether the template is applied, where nothing is being done that says so itself."""
    status, known = observed.status, condition_of(observed.status.conditions, SYNCED)
    if observed.cluster.deleting or known is None:
        return []
    applied = steps.in_sync(observed)
    if not applied and known.status == "True":
        return [claim(SYNCED, False, "NotApplied", "the template as it is now was not applied yet")]
    if applied and known.status != "True" and status.cluster_id and status.operation is None:
        return [claim(SYNCED, True, "Applied", "the provider has the template")]
    return []


def _bound(observed: Observed) -> list[ConditionClaim]:
    to, on = observed.status.scheduled_to, observed.status.running_on
    if to is not None and on is not None and (to.kind, to.name) != (on.kind, on.name):
        message = f"it runs on {on.kind} {on.name} and stays there; scheduledTo is {to.name}"
        return [claim(BINDING_MISMATCH, True, "NotMoved", message)]
    if steps.elsewhere(observed):
        return []
    return over(observed.status.conditions, BINDING_MISMATCH, False)
