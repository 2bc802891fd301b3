"""csrStrategy, csrApprovalStrategy: what each endpoint of a CertificateSigningRequest may change.

The request itself never changes, and who asked is written by the server; /approval writes
conditions, /status the certificate and the conditions that decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.validation.certificates import APPROVED, DENIED

CSRS = "certificatesigningrequests"
_REQUESTER = ("username", "uid", "groups", "extra")
_LIST = "conditions"
_SPEC = ("f:spec",)
RESET_FIELDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "": (_SPEC, ("f:status",)),
    "status": (_SPEC, ("f:status", "f:conditions")),
    "approval": (_SPEC, ("f:status", "f:certificate")),
}
"""What nobody owns by a write through an endpoint."""


def set_requester(csr: JsonObject, user: User) -> None:
    """Write who asks, in place, whatever the client says of it."""
    kept = {name: value for name, value in csr["spec"].items() if name not in _REQUESTER}
    csr["spec"] = {**kept, **user.info}


def keep_request(csr: JsonObject, live: JsonObject) -> None:
    """Keep the request as it was made, in place."""
    csr["spec"] = live["spec"]


def _status(csr: JsonObject, live: JsonObject, now: str) -> None:
    """Keep what was decided, in place, and tell when the rest changed."""
    conditions = list(_conditions(csr))
    for name in (APPROVED, DENIED):
        new, old = _positions(csr, name), _positions(live, name)
        if len(new) == len(old):
            for at, before in zip(new, old, strict=True):
                conditions[at] = _conditions(live)[before]
    _set_conditions(csr, _timed(conditions, live, now))


def _approval(csr: JsonObject, live: JsonObject, now: str) -> None:
    """Take the conditions alone, in place, and tell when they changed."""
    conditions = _timed(_conditions(csr), live, now)
    csr["spec"], csr["status"] = live["spec"], dict(live.get("status") or {})
    _set_conditions(csr, conditions)


def _timed(conditions: list[JsonObject], live: JsonObject, now: str) -> list[JsonObject]:
    return [_timed_condition(each, live, now) for each in conditions]


def _timed_condition(condition: JsonObject, live: JsonObject, now: str) -> JsonObject:
    same = [
        each["lastTransitionTime"]
        for each in _conditions(live)
        if (each["type"], each["status"]) == (condition.get("type"), condition.get("status"))
        and each.get("lastTransitionTime")
    ]
    since = condition.get("lastTransitionTime") or (same[0] if same else now)
    updated = condition.get("lastUpdateTime") or now
    return {**condition, "lastUpdateTime": updated, "lastTransitionTime": since}


def _set_conditions(csr: JsonObject, conditions: list[JsonObject]) -> None:
    kept = {key: value for key, value in (csr.get("status") or {}).items() if key != _LIST}
    csr["status"] = {_LIST: conditions, **kept} if conditions else kept


def _conditions(csr: JsonObject) -> list[JsonObject]:
    found: list[JsonObject] = (csr.get("status") or {}).get("conditions") or []
    return found


def _positions(csr: JsonObject, name: str) -> list[int]:
    return [at for at, each in enumerate(_conditions(csr)) if each.get("type") == name]


PREPARE_SUBRESOURCE: Mapping[str, Callable[[JsonObject, JsonObject, str], None]] = {
    "status": _status,
    "approval": _approval,
}
