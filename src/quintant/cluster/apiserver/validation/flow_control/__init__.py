"""What is wrong with the objects of API priority and fairness, in the words of a real server.

flow_schemas      FlowSchema: which requests belong together
priority_levels   PriorityLevelConfiguration: what share they get
bootstrap         those that every cluster has, some of which may not be changed
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.flow_control.flow_schemas import validate_flow_schema
from quintant.cluster.apiserver.validation.flow_control.priority_levels import (
    validate_priority_level,
)
from quintant.core.errors import Cause

FLOW_CONTROL: dict[str, Callable[[JsonObject, JsonObject | None], Iterable[Cause]]] = {
    "flowschemas": validate_flow_schema,
    "prioritylevelconfigurations": validate_priority_level,
}
