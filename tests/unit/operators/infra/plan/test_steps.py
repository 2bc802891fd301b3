"""The steps of the document, driven one after another: every step, and every state it knows.

A Cluster is nothing but its spec and status here; the provider's answers are given.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, get_args

from quintant.core import codec
from quintant.core.clock import timestamp
from quintant.core.object import replace as changed
from quintant.operators.infra.api import FINALIZER, Cloud, Cluster, InfrastructureProvider
from quintant.operators.infra.api.cluster_status import CloudBinding, State
from quintant.operators.infra.builders import kubeconfig_secret
from quintant.operators.infra.observed.answers import (
    Ended,
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
    NodeLook,
    TargetLook,
)
from quintant.operators.infra.observed.cluster import (
    Answer,
    BegunCall,
    Binding,
    Holding,
    Observed,
    Unresolved,
)
from quintant.operators.infra.observer.plan import news, news_change
from quintant.operators.infra.plan import conclude, plan
from quintant.operators.infra.plan.decision import Act, Action, ProviderMethod, provider_call
from quintant.operators.infra.plan.status import StatusChange
from quintant.operators.infra.plan.steps import Step, step
from testbeds.infra import KUBECONFIG, template

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OUTPUTS = {"kubeconfig": KUBECONFIG.replace("SERVER", "made.example.com")}
CONFIGURED = InfrastructureState(
    InfrastructureWord.CONFIGURED, {"0": "configured", "1": "configured"}
)
UNCONFIGURED = InfrastructureState(
    InfrastructureWord.UNCONFIGURED, {"0": "configured", "1": "unconfigured"}
)
PENDING = InfrastructureState(InfrastructureWord.PENDING, {})


def made(kind: type[Any], spec: dict[str, Any], **meta: Any) -> Any:
    names = {"name": "one", "namespace": "default", "uid": "u-1", "generation": 1, **meta}
    return codec.decode(kind, codec.encode({"metadata": names, "spec": spec}))


BINDING = Binding(
    made(Cloud, {"type": "dummy", "providerRef": {"name": "im"}}, name="here"),
    made(InfrastructureProvider, {"type": "im"}, name="im"),
    CloudBinding(kind="Cloud", name="here", uid="c-1", endpoint_hash="e-1"),
    "f-1",
)


class Story:
    """A Cluster that is taken through steps, with time and answers of the test's."""

    reached: ClassVar[set[str]] = set()

    def __init__(self, **spec: Any) -> None:
        self.cluster: Cluster = made(Cluster, {"tosca": template(), **spec})
        self.seen = Observed(self.cluster, NOW)
        self.states: list[str] = []
        self.steps: list[Step] = []
        self.say(StatusChange())

    def say(self, change: StatusChange) -> None:
        """Write a change of the status."""
        status = change.on(self.cluster, self.cluster.status, self.seen.now)
        self.cluster = changed(self.cluster, status=status)
        self.seen = replace(self.seen, cluster=self.cluster)
        if self.states[-1:] != [status.state]:
            self.states.append(str(status.state))
            self.reached.add(str(status.state))

    def bind(self) -> None:
        scheduled = {"kind": "Cloud", "name": "here"}
        body = {"scheduledTo": scheduled, "scheduled": timestamp(self.seen.now)}
        status = codec.decode(Cluster, codec.encode({"spec": {}, "status": body})).status
        assert status is not None
        self.say(StatusChange({"scheduled_to": status.scheduled_to}))
        self.seen = replace(self.seen, binding=BINDING)

    def take(self, seconds: float = 5.0, **answers: Any) -> Step:
        """One pass after some seconds, with these answers of the provider."""
        self.seen = replace(self.seen, now=self.seen.now + timedelta(seconds=seconds))
        seen = replace(self.seen, **answers)
        at = step(seen)
        self.steps.append(at)
        decided = plan(seen, "token-1")
        act = decided.act
        if act is not None and act.record is not None:
            self.say(act.record)
        ended = conclude(replace(self.seen, memory=seen.memory), decided, self._answer(act))
        if ended.claims_id:
            held = {ended.claims_id: Holding("default/one", self.cluster.metadata.uid, True)}
            self.seen = replace(self.seen, holdings=held, held=(ended.claims_id,))
        self.say(ended.change)
        self.seen = replace(self.seen, memory=ended.memory or seen.memory)
        if act is not None and act.action is Action.LONG_CALL:
            self.seen = replace(self.seen, call=self.seen.memory.call, ended=None)
        return at

    def _answer(self, act: Act | None) -> Answer:
        """What becomes of the call: the provider does what it is asked to."""
        if act is None:
            return None
        if act.action is Action.SAVE:
            assert act.kubeconfig == OUTPUTS["kubeconfig"]
            return ""
        call = provider_call(self.seen, act)
        if call.id is not None:
            return BegunCall(call.id, 1)
        return "inf-1" if call.method is ProviderMethod.CREATE else None

    def end(self, failure: Failure | None = None) -> None:
        """The long call came to its end."""
        self.seen = replace(self.seen, ended=Ended(failure=failure))

    def look(self, *looks: TargetLook, threshold: int = 3) -> None:
        """The observer looked."""
        told = None
        for each in looks:
            told = news(told, each, threshold)
            self.say(news_change(told, require_nodes=False))

    @property
    def state(self) -> str:
        return self.states[-1]


def online(**spec: Any) -> Story:
    """A Cluster that went through steps 2, 4a and 7 to ONLINE."""
    story = Story(**spec)
    assert story.take() is Step.UNBOUND
    story.bind()
    assert story.take() is Step.CREATE
    story.end()
    assert story.take(infrastructures=()) is Step.CREATE
    story.seen = replace(story.seen, call=None)
    assert story.take(state=PENDING) is Step.WAIT
    story.take(state=CONFIGURED)
    story.take(state=CONFIGURED)
    assert story.take(outputs=OUTPUTS) is Step.SAVE
    assert story.state == "CONNECTING"
    story.look(TargetLook(nodes=(NodeLook("a", True),)))
    assert story.state == "ONLINE"
    return story


def test_step_4a_creates_and_step_7_connects() -> None:
    story = online()
    assert story.states == ["PENDING", "CREATING", "CONNECTING", "ONLINE"]
    status = story.seen.status
    assert status.cluster_id == "inf-1"
    assert status.running_on == BINDING.snapshot
    assert status.last_applied_tosca == story.cluster.spec.tosca
    assert status.operation is None


def test_step_6_ends_where_it_is_online() -> None:
    story = online()
    story.seen = replace(story.seen, secret=_secret(story))
    assert story.take(state=CONFIGURED) is Step.FINISHED
    assert story.states[-1] == "ONLINE"


def _secret(story: Story) -> Any:
    return kubeconfig_secret(story.cluster, OUTPUTS["kubeconfig"])


def test_step_4b_updates_what_runs() -> None:
    story = online()
    other = made(Cluster, {"tosca": template(2)}).spec
    story.cluster = changed(story.cluster, spec=other)
    story.seen = replace(story.seen, cluster=story.cluster, secret=_secret(story))
    assert story.take(state=CONFIGURED) is Step.UPDATE
    assert story.state == "RECONCILING"
    story.end()
    assert story.take() is Step.UPDATE
    grown = InfrastructureState(
        InfrastructureWord.CONFIGURED, dict.fromkeys(("0", "1", "2"), "configured")
    )
    story.seen = replace(story.seen, call=None)
    assert story.take(state=grown) is Step.WAIT
    story.take(state=grown)
    assert story.take(outputs=OUTPUTS) is Step.SAVE
    assert story.states[-2:] == ["RECONCILING", "CONNECTING"]
    assert story.seen.status.last_applied_tosca == other.tosca


def test_step_5_reconfigures_what_fails_and_gives_up_in_the_end() -> None:
    story = online(reconfigure={"maxAttempts": 1, "backoff": "10s"})
    story.seen = replace(story.seen, secret=_secret(story))
    assert story.take(60, state=UNCONFIGURED) is Step.FINISHED
    assert story.state == "FAILING_RECONCILIATION"
    assert story.take(5, state=UNCONFIGURED) is Step.WAIT
    assert story.take(10, state=UNCONFIGURED) is Step.RECONFIGURE
    assert story.state == "RECONCILING"
    story.take(6, state=UNCONFIGURED)
    story.take(6, state=UNCONFIGURED)
    assert story.state == "FAILED"
    story.take(60, state=CONFIGURED)
    story.take(60, state=CONFIGURED)
    assert story.state == "RECONCILING", "FAILED is left by itself once the provider is done"


def test_step_2_stops_without_a_cloud() -> None:
    story = Story()
    missing = Unresolved("CloudNotFound", "Cloud here is not there")
    assert story.take(unresolved=missing) is Step.UNBOUND
    assert story.state == "FAILED"


def test_step_1_deletes_first() -> None:
    story = online()
    meta = changed(
        story.cluster.metadata, deletion_timestamp=timestamp(NOW), finalizers=(FINALIZER,)
    )
    story.cluster = changed(story.cluster, metadata=meta)
    story.seen = replace(story.seen, cluster=story.cluster)
    assert story.take(state=CONFIGURED) is Step.DELETE
    assert story.state == "DELETING"
    gone = Failure(ErrorClass.NOT_FOUND, "NotFound", "no such infrastructure", 404)
    story.take(state=gone)
    seen = replace(story.seen, now=story.seen.now + timedelta(seconds=5), state=gone)
    assert plan(seen, "t").finished


def test_observer_finds_all_of_its_states() -> None:
    story = online()
    lost = TargetLook(failure="Unreachable", message="refused")
    story.look(lost, lost, lost, TargetLook(), TargetLook())
    story.look(TargetLook(nodes=(NodeLook("a", False),)))
    story.look(TargetLook(nodes=(NodeLook("a", True, ("DiskPressure",)),)))
    assert story.states[-6:] == [
        "DEGRADED", "OFFLINE", "CONNECTING", "ONLINE", "NOTREADY", "UNHEALTHY"
    ]  # fmt: skip


def test_all_states_are_reached() -> None:
    Story.reached.clear()
    for test in (
        test_step_4a_creates_and_step_7_connects,
        test_step_4b_updates_what_runs,
        test_step_5_reconfigures_what_fails_and_gives_up_in_the_end,
        test_step_1_deletes_first,
        test_observer_finds_all_of_its_states,
    ):
        test()
    assert Story.reached == set(get_args(State)) - {"FAILING_METRICS"}
