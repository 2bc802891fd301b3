"""ResourceQuota, CheckRequest: a write that exceeds a quota is refused with 403.

What is used is counted in the step that stores, so that no two requests take the last room. The
texts are those of a real server.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.admission.plugins.pod_requests import (
    Sums,
    add_quantities,
    format_quantities,
    parse_quantities,
)
from quintant.cluster.apiserver.admission.plugins.quota_usage import (
    missing_requests,
    object_usage,
    scopes_match,
    table_of,
)
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import Draft
from quintant.cluster.apiserver.meta.status import StatusError, forbidden
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.revision_log import RevisionStore

QUOTAS = "resourcequotas"
_GROWING = ("persistentvolumeclaims", "services")
"""What may take more when it is changed; others only when they are made."""
_ZERO = parse_quantities({"": "0"})[""]


class _Named(msgspec.Struct, frozen=True):
    name: str


class _Selector(msgspec.Struct, frozen=True, rename="camel"):
    match_expressions: list[dict[str, Any]] = []


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    hard: dict[str, str] = {}
    scopes: list[str] = []
    scope_selector: _Selector | None = None


class QuotaView(msgspec.Struct, frozen=True):
    """What a namespace may use, of some or of all its objects."""

    metadata: _Named
    spec: _Spec = _Spec()

    @property
    def scopes(self) -> list[JsonObject]:
        """What its pods have in common."""
        chosen = self.spec.scope_selector
        more = chosen.match_expressions if chosen is not None else []
        return [*({"scopeName": name} for name in self.spec.scopes), *more]


class _Object(msgspec.Struct, frozen=True):
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


def enforce_quota(draft: Draft, context: AdmissionContext) -> None:
    """Refuse an object that a quota of its namespace has no room for."""
    table, live = draft.target.kind.table, draft.live
    if not draft.target.namespace or (live is not None and table not in _GROWING):
        return
    for quota in context.list_in(QUOTAS, draft.target.namespace, QuotaView):
        if scopes_match(quota.scopes, table, draft.obj):
            _hold(draft, quota, context.store)


def quota_used(
    store: RevisionStore, namespace: str, quota: QuotaView, tables: Collection[str]
) -> Sums:
    """What the objects of a namespace take of a quota, of those in some tables."""
    names = [name for name in quota.spec.hard if table_of(name) in tables]
    found = dict.fromkeys(names, _ZERO)
    for table in sorted(set(map(table_of, names))):
        for _, entry in store.table(table).now.scan(f"{namespace}/"):
            obj = msgspec.structs.asdict(stored_json.read(entry, _Object))
            if scopes_match(quota.scopes, table, obj):
                add_quantities(found, _masked(object_usage(table, obj), quota.spec.hard))
    return found


def _hold(draft: Draft, quota: QuotaView, store: RevisionStore) -> None:
    table, hard = draft.target.kind.table, parse_quantities(quota.spec.hard)
    taken = _masked(object_usage(table, draft.obj), hard)
    if table == "pods" and (lacking := missing_requests(hard, draft.obj["spec"])):
        raise _refused(draft, f"failed quota: {quota.metadata.name}: must specify {lacking}")
    if draft.live is not None:
        before = object_usage(table, draft.live)
        taken = {
            name: (value - before.get(name, _ZERO)[0], like)
            for name, (value, like) in taken.items()
            if value > before.get(name, _ZERO)[0]
        }
    present = quota_used(store, draft.target.namespace, quota, (table,))
    over = [name for name in taken if taken[name][0] + present[name][0] > hard[name][0]]
    if over:
        figures = {"requested": taken, "used": present, "limited": hard}
        parts = (f"{word}: {_shown(amounts, over)}" for word, amounts in figures.items())
        raise _refused(draft, f"exceeded quota: {quota.metadata.name}, {', '.join(parts)}")


def _masked(sums: Sums, names: Iterable[str]) -> Sums:
    wanted = set(names)
    return {name: each for name, each in sums.items() if name in wanted}


def _shown(amounts: Sums, names: Iterable[str]) -> str:
    text: Mapping[str, str] = format_quantities(amounts)
    return ",".join(f"{name}={text[name]}" for name in sorted(names))


def _refused(draft: Draft, why: str) -> StatusError:
    return forbidden(draft.target.kind.resource, draft.label, why)
