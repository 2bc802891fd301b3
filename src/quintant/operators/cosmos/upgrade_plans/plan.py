"""The upgrade that a chain has planned, as its nodes answer. Pure."""

from __future__ import annotations

import msgspec

from quintant.core.object import replace
from quintant.core.text import one_line
from quintant.operators.cosmos.api.status import FullNodeStatus, UpgradeInfo
from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.observed.comet import SyncState
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.upgrade_plans.observed import PlannedUpgrade
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.result import Result
from quintant.wire.comet import MalformedStatus, decode_answer, whole_number

PATH = "/cosmos/upgrade/v1beta1/current_plan"
PASS_SECONDS = 60.0
"""A governance plan is announced hours ahead."""
_NAME_LENGTH = 64


class _Plan(msgspec.Struct):
    name: str = ""
    height: str = "0"


class _Answer(msgspec.Struct):
    plan: _Plan | None = None


def parse_plan(body: bytes) -> UpgradeInfo | None:
    """The plan in an answer, None if there is none; ValueError for anything else."""
    try:
        plan = decode_answer(body, _Answer).plan
        height = whole_number(plan.height, "height") if plan is not None else 0
    except MalformedStatus:
        raise ValueError("it told no plan") from None
    if plan is None or not height:
        return None
    return UpgradeInfo(height=height, name=one_line(plan.name, _NAME_LENGTH))


def question(observed: Observed) -> NodePod | None:
    """The pod to ask: one whose node follows the chain, or halted with it."""
    following = (node for node in observed.nodes if node.present)
    return next((node.pod for node in following if node.state is SyncState.IN_SYNC), None)


def plan(observed: PlannedUpgrade) -> Conclusion[FullNodeStatus]:
    """What the chain announces goes into the status; others write that, too."""
    again, known = Result(after=PASS_SECONDS), observed.observed.status.planned_upgrade
    if not observed.answered or observed.upgrade == known:
        return Conclusion(again=again)
    upgrade = observed.upgrade
    return Conclusion(
        change=lambda status: replace(status or FullNodeStatus(), planned_upgrade=upgrade),
        again=again,
    )
