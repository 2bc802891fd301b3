"""The step that finds whose membership is over: pods with the label of another network, or none.

Pure. A pod that lost its label is out of the caches' sight. So every pod that bore our annotations
at the last look, or that the LightNetwork shows, is looked for: first in the caches, then at the
API server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from quintant.core.object import Request
from quintant.operators.klight.api import WRITTEN, PeerPod
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.memory import LeaveMemory, Memory
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.observed.questions import Answers, PodsLook, Questions
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.release import ReleaseStep
from quintant.operators.klight.plan.step import Now, StepDecision

Pods = Mapping[Request, PeerPod]


@dataclass(frozen=True, slots=True)
class LeaveStep:
    """Finds the pods whose membership is to end."""

    options: Options

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        """The expected pods by the caches, then those that caches lack by the API server."""
        expected = pending(observed, memory.leave)
        cached = _look(expected, live=False)
        if not expected or cached not in answers:
            return answers.unanswered([cached] if expected else [])
        unseen = vanished(expected, answers[cached])
        return answers.unanswered([_look(unseen, live=True)] if unseen else [])

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        """End the memberships of those that live without the label, and of those with another."""
        expected = pending(observed, memory.leave)
        unseen = vanished(expected, answers.get(_look(expected, live=False)) or {})
        pods = answers.get(_look(unseen, live=True)) or {}
        leaving = {
            uid: pods[key]
            for uid, key in unseen.items()
            if _is(pods, uid, key) and released(pods[key], observed.key, self.options)
        }
        leave = after_look(memory.leave, observed, leaving, unseen.keys() - leaving.keys())
        then = ReleaseStep(self.options, (*leaving.values(), *observed.leavers))
        return StepDecision((), replace(memory, leave=leave), then if then.pods else None)


def expected_pods(observed: Observed, memory: LeaveMemory) -> dict[str, Request]:
    """Pods that had to do with the network at the last look, or by its status, by uid."""
    leaving = {uid: pod.key for uid, pod in memory.leaving.items()}
    return {**memory.members, **leaving, **observed.listed}


def pending(observed: Observed, memory: LeaveMemory) -> dict[str, Request]:
    """Those of them that were not looked for yet, or have not left."""
    expected = expected_pods(observed, memory)
    return {uid: key for uid, key in expected.items() if uid not in memory.ended}


def vanished(expected: Mapping[str, Request], cached: Pods) -> dict[str, Request]:
    """Those that the caches do not have."""
    return {uid: key for uid, key in expected.items() if not _is(cached, uid, key)}


def released(pod: PeerPod, network: Request, options: Options) -> bool:
    """Whether a pod that caches lack lives on without the label, with what we wrote."""
    record = Membership.read(pod.metadata.annotations)
    here = marked(pod) if record is None else record.network == str(network)
    return here and options.label not in pod.metadata.labels


def marked(pod: PeerPod) -> bool:
    """Whether something of ours is written on a pod."""
    return any(key in pod.metadata.annotations for key in WRITTEN)


def after_look(
    memory: LeaveMemory, observed: Observed, leaving: Mapping[str, PeerPod], gone: set[str]
) -> LeaveMemory:
    """The memory with those who are leaving: it is tried again until it is over."""
    ended = memory.ended & expected_pods(observed, memory).keys()
    members = {uid: key for uid, key in memory.members.items() if uid not in gone}
    return replace(memory, members=members, leaving=leaving, ended=ended | gone)


def _is(pods: Pods, uid: str, key: Request) -> bool:
    """Whether the pod of a key is this very one."""
    return key in pods and pods[key].metadata.uid == uid


def _look(pods: Mapping[str, Request], *, live: bool) -> PodsLook:
    return PodsLook(tuple(dict.fromkeys(pods.values())), live)
