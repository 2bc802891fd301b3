"""What two worlds are compared by where one was reached in steps: what is there, not how it came.

Old ReplicaSets, revisions and their numbers tell of the steps, and go with nobody's spec.
"""

from __future__ import annotations

from typing import Any

from quintant.testing.explore.simulation.normalise import Normalised

REVISIONS = "controllerrevisions.apps "
REPLICA_SETS = "replicasets.apps "
PODS, CLAIMS = "pods ", "persistentvolumeclaims "
COUNTED = "deployment.kubernetes.io/revision"
OF_HISTORY = ("currentRevision", "updateRevision", "collisionCount")
"""Of a status."""
HASHES = ("pod-template-hash", "controller-revision-hash")
STILL = frozenset(("Running", "Succeeded", "Bound"))
"""Phases of pods and claims of which something comes."""


def without_history(state: Normalised) -> Normalised:
    """A world without what tells how it was reached."""
    return {
        title: _plain(document)
        for title, document in state.items()
        if not title.startswith(REVISIONS) and not _is_old(title, document)
    }


def is_hopeless(state: Normalised) -> bool:
    """Whether a spec, applied at once, comes to pods or claims of which nothing will come.

    What was there before may stay then: only the way back is compared.
    """
    found = (d for title, d in state.items() if title.startswith((PODS, CLAIMS)))
    return any(_phase(each) not in STILL for each in found)


def wants_pods(state: Normalised) -> bool:
    """Whether something has been asked for pods and has fewer than it wants."""
    return any(_lacks(each) for each in state.values())


def _lacks(document: dict[str, Any]) -> bool:
    if document.get("kind") not in ("StatefulSet", "Deployment", "ReplicaSet"):
        return False
    wanted = _part(document, "spec").get("replicas", 1)
    return bool(_part(document, "status").get("readyReplicas", 0) != wanted)


def _phase(document: dict[str, Any]) -> str:
    return str(_part(document, "status").get("phase", ""))


def _is_old(title: str, document: dict[str, Any]) -> bool:
    return title.startswith(REPLICA_SETS) and _part(document, "spec").get("replicas") == 0


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    made = dict(document)
    if status := _part(document, "status"):
        made["status"] = {key: value for key, value in status.items() if key not in OF_HISTORY}
    if meta := _part(document, "metadata"):
        made["metadata"] = {key: _without(value) for key, value in meta.items()}
    return made


def _without(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: each for key, each in value.items() if key != COUNTED and key not in HASHES}


def _part(document: dict[str, Any], name: str) -> dict[str, Any]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}
