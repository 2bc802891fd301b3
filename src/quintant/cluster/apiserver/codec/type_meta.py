"""TypeMeta, GroupVersionKind: apiVersion and kind of an object, against those of the URL.

A document that was sent and the result of a patch are refused in different words. Kinds of the
server's own may leave both out; custom resources may not.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.codec.body import type_meta_error
from quintant.cluster.apiserver.golang.printing import encoded, quoted, unregistered
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_object, invalid_patch
from quintant.cluster.apiserver.meta.status import StatusError, bad_request, internal_error
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.resource import Resource


def check_sent(kind: Kind, sent: JsonObject) -> None:
    """400 for a document of another kind; of custom resources, of another version."""
    resource = kind.resource
    if kind.custom:
        _check_custom(resource, sent)
    elif why := _foreign(resource, sent):
        sent_kind, version = _type_meta(resource, sent)
        title = f'{sent_kind} in version "{version.rpartition("/")[2]}"'
        raise bad_request(f"{title} cannot be handled as a {resource.kind}: {why}")


def check_kind(kind: Kind, sent_kind: str, name: str) -> None:
    """422 for a custom resource that says it is something else."""
    resource = kind.resource
    if kind.custom and sent_kind != resource.kind:
        complaint = invalid("kind", sent_kind, f"must be {resource.kind}")
        raise invalid_object(replace(resource, kind=sent_kind), name, complaint)


def check_patched(kind: Kind, obj: JsonObject, *, converted: bool) -> None:
    """422 for a patch that makes an object another kind; a converted one never does."""
    if why := type_meta_error(obj):
        raise invalid_patch(encoded(obj), why)
    if kind.custom:
        _check_renamed(kind.resource, obj)
    elif not converted and not obj.get("apiVersion") and obj.get("kind"):
        raise _versionless(obj)
    elif not converted and (why := _foreign(kind.resource, obj)):
        raise invalid_patch(encoded(obj), why)


def _versionless(obj: JsonObject) -> StatusError:
    """Of no version at all, a real server reads an object that has nothing but names."""
    unknown = sorted(key for key in obj if key not in ("apiVersion", "kind"))
    text = f"the name of the object ({_name(obj)} based on URL) was undeterminable"
    refusal = bad_request(f"{text}: name must be provided")
    return refusal.with_warnings(*(f"unknown field {quoted(key)}" for key in unknown))


def _type_meta(resource: Resource, obj: JsonObject) -> tuple[str, str]:
    return obj.get("kind") or resource.kind, obj.get("apiVersion") or resource.api_version


def _foreign(resource: Resource, obj: JsonObject) -> str:
    """What is wrong with the identity of an object of a built-in kind, if anything."""
    kind, version = _type_meta(resource, obj)
    if (kind, version) == (resource.kind, resource.api_version):
        return ""
    if go_types.find(version, kind) is None:
        return unregistered(kind, version)
    own = f"{resource.group.partition('.')[0] or 'core'}.{resource.kind}"
    return f"converting ({version.rpartition('/')[2]}.{kind}) to ({own}): unknown conversion"


def _check_custom(resource: Resource, sent: JsonObject) -> None:
    version = sent.get("apiVersion")
    if version != resource.api_version:
        raise bad_request(
            f"the API version in the data ({version or ''}) does not match the expected API "
            f"version ({resource.api_version})"
        )


def _check_renamed(resource: Resource, obj: JsonObject) -> None:
    kind, version = obj.get("kind"), obj.get("apiVersion")
    if not kind:
        text = encoded(obj)
        raise invalid_patch(text, f"Object 'Kind' is missing in '{text}'")
    if not version:
        raise internal_error("Object 'apiVersion' is missing in 'object has no apiVersion field'")
    complaints = []
    if kind != resource.kind:
        complaints.append(invalid("kind", kind, f"must be {resource.kind}"))
    if version != resource.api_version:
        complaints.append(invalid("apiVersion", version, f"must be {resource.api_version}"))
    if complaints:
        group = version.rpartition("/")[0]
        raise invalid_object(replace(resource, group=group, kind=kind), _name(obj), *complaints)


def _name(obj: JsonObject) -> Any:
    metadata = obj.get("metadata")
    return metadata.get("name", "") if isinstance(metadata, dict) else ""
