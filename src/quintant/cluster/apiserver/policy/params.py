"""CollectParams: the objects that a binding gives to its policy as parameters."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.selectors import from_object
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.policy.policy_source import ParamKind
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore

DENY = "Deny"
NO_PARAMS = (None,)
"""What a policy without parameters is evaluated with: once, with none."""


class MisconfiguredPolicy(Exception):
    """A policy or a binding that cannot be evaluated; the text says why."""


def find_param_kind(catalog: Catalog, wanted: ParamKind) -> Kind:
    """The kind of a policy's parameters; MisconfiguredPolicy if nothing like it is served."""
    group, _, version = wanted.api_version.rpartition("/")
    for kind in catalog.version(group, version):
        if kind.resource.kind == wanted.kind and not (kind.create_only or kind.computed):
            return kind
    raise MisconfiguredPolicy(f"failed to find resource referenced by paramKind: '{wanted}'")


async def collect_params(
    store: RevisionStore, kind: Kind, ref: JsonObject, namespace: str
) -> list[JsonObject]:
    """The parameters for a change in a namespace; MisconfiguredPolicy if they have to be there."""
    entries = list(_entries(store, kind, ref, namespace))
    if not entries and ref.get("parameterNotFoundAction") == DENY:
        raise MisconfiguredPolicy(
            "no params found for policy binding with `Deny` parameterNotFoundAction"
        )
    if (convert := kind.strategy.conversion.convert_for_read) is not None:
        await convert(entries)
    return [stored_json.unpack(kind, entry) for entry in entries]


def _entries(
    store: RevisionStore, kind: Kind, ref: JsonObject, namespace: str
) -> Iterator[StoredEntry]:
    own, table = ref.get("namespace") or "", store.table(kind.table)
    if own and not kind.resource.namespaced:
        raise MisconfiguredPolicy(
            "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
        )
    if kind.resource.namespaced and not (own or namespace):
        raise MisconfiguredPolicy(
            "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
        )
    if name := ref.get("name"):
        entry = table.entries.get(kind.key(own or namespace, name))
        yield from () if entry is None else (entry,)
        return
    selector = from_object(ref.get("selector") or {})
    prefix = f"{own or namespace}/" if kind.resource.namespaced else ""
    found = (entry for _, entry in table.now.scan(prefix))
    yield from (entry for entry in found if selector.matches(entry.labels))
