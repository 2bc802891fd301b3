"""Convert_v1_Event_To_core_Event: core/v1 and events.k8s.io/v1 are two forms of one stored event.

They are stored in the core form; the other group's names for the same fields are in the table.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant.cluster.apiserver.meta.types import JsonObject

_CORE_TO_GROUP = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "count": "deprecatedCount",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "reportingComponent": "reportingController",
}
_GROUP_TO_CORE = {theirs: ours for ours, theirs in _CORE_TO_GROUP.items()}


def to_core(event: JsonObject) -> JsonObject:
    """An events.k8s.io event as core/v1 stores it."""
    nobody = {"reportingComponent": "", "reportingInstance": ""}
    return nobody | _renamed(event, _GROUP_TO_CORE)


def to_group(event: JsonObject) -> JsonObject:
    """A stored event as events.k8s.io shows it: who reports it only if somebody does."""
    shown = _renamed(event, _CORE_TO_GROUP)
    for name in ("reportingController", "reportingInstance"):
        if not shown.get(name):
            shown.pop(name, None)
    return shown


def _renamed(event: JsonObject, names: Mapping[str, str]) -> JsonObject:
    return {names.get(name, name): value for name, value in event.items()}
