"""applyPatcher: server-side apply: a configuration and the live object become a draft.

Other patches are in quintant.cluster.apiserver.handlers.patch. What merging and owning fields mean
is in quintant.cluster.apiserver.fieldmanager.update.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.fieldmanager.managers import FieldManager
from quintant.cluster.apiserver.fieldmanager.update import track_apply
from quintant.cluster.apiserver.go_types.coerce import CoercionError, coerce
from quintant.cluster.apiserver.handlers.scale import DOCUMENT, SCALE, applied_scale
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.metadata_rules import (
    check_resource_version,
    set_namespace,
    unknown_metadata,
    wipe_system_metadata,
    with_type_meta,
)
from quintant.cluster.apiserver.meta.status import bad_request, conflict, not_found, unknown_error
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.structuredmerge.schema import TypingError


def draft_apply(
    objects: ObjectStore, target: ObjectRef, config: Any, options: WriteOptions
) -> Draft:
    """The live object with a configuration applied, or a new object made from it."""
    field_validation = options.field_validation
    draft = _draft(target, objects.get_or_none(target), config, options)
    if field_validation.text_warnings and field_validation.strict:
        why = ", ".join(field_validation.refusal)
        raise bad_request(f"error strict decoding YAML: error converting YAML to JSON: {why}")
    return replace(draft, warnings=(*field_validation.warnings, *draft.warnings))


def _draft(
    target: ObjectRef, base: StoredEntry | None, config: Any, options: WriteOptions
) -> Draft:
    if base is None and target.subresource:
        raise not_found(target.kind.resource, target.name)
    sent = _configured(target, config)
    author = FieldManager(options.manager, options.now, target.subresource)
    try:
        if base is None:
            return _applied_new(target, sent, author)
        return _applied_over(target, base, sent, author, force=options.force)
    except TypingError as error:
        text = f"failed to create typed patch object ({_titled(target.kind, config)}): {error}"
        raise unknown_error(text) from None
    except CoercionError as error:
        raise unknown_error(_unconverted(target.kind, config, error)) from None


def _configured(target: ObjectRef, config: Any) -> JsonObject:
    resource = DOCUMENT if target.subresource == SCALE else target.kind.resource
    document = config if isinstance(config, dict) else {}
    version, kind = _text(document.get("apiVersion")), _text(document.get("kind"))
    if (version, kind) != (resource.api_version, resource.kind):
        raise bad_request(f"invalid object type: {_spelt(version, kind)}")
    metadata = document.get("metadata")
    managers = metadata.get("managedFields") if isinstance(metadata, dict) else None
    if isinstance(managers, list) and managers != [None]:
        raise bad_request("metadata.managedFields must be nil")
    return document


def _text(value: Any) -> str:
    """What a field of the wrong type says, to whom reads only texts."""
    return value if isinstance(value, str) else ""


def _spelt(version: str, kind: str) -> str:
    """A version and kind, as Go shows them; nothing is left of what is no version at all."""
    if version.count("/") > 1:
        return "/, Kind="
    return f"{version}, Kind={kind}" if "/" in version else f"/{version}, Kind={kind}"


def _applied_new(target: ObjectRef, sent: JsonObject, author: FieldManager) -> Draft:
    merged = track_apply(target.kind, None, sent, author, force=False)
    obj = _fitted(target, merged)
    uid = obj["metadata"].pop("uid", None)
    if uid:
        text = (
            f"uid mismatch: the provided object specified uid {uid}, "
            "and no existing object was found"
        )
        raise conflict(target.kind.resource, target.name, text)
    check_resource_version(obj["metadata"].pop("resourceVersion", None))
    wipe_system_metadata(obj)
    target.kind.default(obj)
    return Draft(target, obj, create_on_update=True)


def _applied_over(
    target: ObjectRef, base: StoredEntry, sent: JsonObject, author: FieldManager, *, force: bool
) -> Draft:
    live = stored_json.unpack(target.kind, base)
    merge = applied_scale if target.subresource == SCALE else track_apply
    obj = _fitted(target, merge(target.kind, live, sent, author, force=force))
    target.kind.default(obj)
    return Draft(target, obj, base=base, live=live)


def _fitted(target: ObjectRef, merged: JsonObject) -> JsonObject:
    """What applying came to, as an object of its kind in its place."""
    obj = with_type_meta(target.kind, merged)
    if target.kind.message is not None:
        coerce(target.kind.message, obj)
    else:
        unknown_metadata(obj)
    set_namespace(target.kind, obj, target.namespace, target.name)
    return obj


def _unconverted(kind: Kind, config: JsonObject, error: CoercionError) -> str:
    resource = kind.resource
    what = f"{resource.group}/{resource.version}, Kind={resource.kind}"
    return (
        f"failed to convert new object ({_titled(kind, config)}) to proper version: "
        f"unable to convert unstructured object to {what}: {error.converted}"
    )


def _titled(kind: Kind, config: JsonObject) -> str:
    metadata, resource = config.get("metadata") or {}, kind.resource
    named = metadata if isinstance(metadata, dict) else {}
    name = f"{_text(named.get('namespace'))}/{_text(named.get('name'))}"
    return f"{name}; {resource.group}/{resource.version}, Kind={resource.kind}"
