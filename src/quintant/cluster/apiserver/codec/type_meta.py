"""What an object says it is: its kind and version, against what the URL says.

A document that was sent and the result of a patch are refused in different words. Kinds of the
server's own may leave both out; custom resources may not.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quintant.cluster.apiserver import tables
from quintant.cluster.apiserver.codec.body import type_meta_error
from quintant.cluster.apiserver.golang.printing import encoded, quoted, unregistered
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_object, invalid_patch
from quintant.cluster.apiserver.meta.status import StatusError, bad_request, internal_error
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.resource import Resource


def check_sent(kind: Kind, sent: JsonObject) -> None:
    """400 for a document of another kind; of custom resources, of another version."""
    where = kind.resource
    if kind.custom:
        _check_custom(where, sent)
    elif why := _foreign(where, sent):
        said, version = _said(where, sent)
        title = f'{said} in version "{version.rpartition("/")[2]}"'
        raise bad_request(f"{title} cannot be handled as a {where.kind}: {why}")


def check_kind(kind: Kind, said: str, name: str) -> None:
    """422 for a custom resource that says it is something else."""
    where = kind.resource
    if kind.custom and said != where.kind:
        complaint = invalid("kind", said, f"must be {where.kind}")
        raise invalid_object(replace(where, kind=said), name, complaint)


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


def _said(where: Resource, obj: JsonObject) -> tuple[str, str]:
    return obj.get("kind") or where.kind, obj.get("apiVersion") or where.api_version


def _foreign(where: Resource, obj: JsonObject) -> str:
    """What is wrong with the identity of an object of a built-in kind, if anything."""
    kind, version = _said(where, obj)
    if (kind, version) == (where.kind, where.api_version):
        return ""
    if tables.find(version, kind) is None:
        return unregistered(kind, version)
    own = f"{where.group.partition('.')[0] or 'core'}.{where.kind}"
    return f"converting ({version.rpartition('/')[2]}.{kind}) to ({own}): unknown conversion"


def _check_custom(where: Resource, sent: JsonObject) -> None:
    version = sent.get("apiVersion")
    if version != where.api_version:
        raise bad_request(
            f"the API version in the data ({version or ''}) does not match the expected API "
            f"version ({where.api_version})"
        )


def _check_renamed(where: Resource, obj: JsonObject) -> None:
    said, version = obj.get("kind"), obj.get("apiVersion")
    if not said:
        text = encoded(obj)
        raise invalid_patch(text, f"Object 'Kind' is missing in '{text}'")
    if not version:
        raise internal_error("Object 'apiVersion' is missing in 'object has no apiVersion field'")
    complaints = []
    if said != where.kind:
        complaints.append(invalid("kind", said, f"must be {where.kind}"))
    if version != where.api_version:
        complaints.append(invalid("apiVersion", version, f"must be {where.api_version}"))
    if complaints:
        group = version.rpartition("/")[0]
        raise invalid_object(replace(where, group=group, kind=said), _name(obj), *complaints)


def _name(obj: JsonObject) -> Any:
    metadata = obj.get("metadata")
    return metadata.get("name", "") if isinstance(metadata, dict) else ""
