"""The upgrade that a chain has planned, as its nodes tell it. Pure."""

from __future__ import annotations

import msgspec

from quintant.core.text import one_line
from quintant.operators.cosmos.api.status import UpgradeInfo
from quintant.operators.cosmos.observe.observed import ChainNode, Observed

PATH = "/cosmos/upgrade/v1beta1/current_plan"
_NAME_LENGTH = 64


class _Plan(msgspec.Struct):
    name: str = ""
    height: str = "0"


class _Answer(msgspec.Struct):
    plan: _Plan | None = None


def parse_plan(body: bytes) -> UpgradeInfo | None:
    """The plan in an answer, None if there is none; ValueError for anything else."""
    try:
        plan = msgspec.json.decode(body, type=_Answer).plan
    except msgspec.DecodeError:
        raise ValueError("it told no plan") from None
    if plan is None or not plan.height.isdecimal() or not int(plan.height):
        return None
    return UpgradeInfo(height=int(plan.height), name=one_line(plan.name, _NAME_LENGTH))


def whom_to_ask(observed: Observed) -> ChainNode | None:
    """A node that follows the chain."""
    return next((node for node in observed.nodes if node.in_sync), None)
