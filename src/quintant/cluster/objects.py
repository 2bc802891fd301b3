"""The rules of metadata: what a client may say, what the server fills in, what must stay.

Pure functions on plain objects; those that change an object say so. Everything here holds for
every kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from quintant.cluster.catalog import Kind, Plain
from quintant.cluster.problems import (
    bad_request,
    forbidden_field,
    invalid,
    required,
    wrong,
)
from quintant.runtime.clock import Chance
from quintant.runtime.errors import Cause

SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Letters of generated names: no vowels, so no words."""
SUFFIX_LENGTH = 5
NAME_LIMIT = 63
"""Longest generated name; the base is cut to leave room for the suffix."""
ANNOTATIONS_LIMIT = 256 * 1024
"""Bytes of all annotations together."""

_WIPED = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
_KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(
    r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_SUBDOMAIN_LIMIT = 253
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_LABEL_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_QUALIFIED_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


def identified(kind: Kind, sent: Any) -> Plain:
    """What a client sent, as an object of the kind with metadata; 400 or 422 if it is not one."""
    if not isinstance(sent, dict):
        raise bad_request(f"the body is not an object of kind {kind.resource.kind}")
    where = kind.resource
    _check_kind(kind, sent)
    metadata = sent.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise bad_request("metadata must be a map")
    rest = {key: value for key, value in sent.items() if key not in ("apiVersion", "kind")}
    return {
        "apiVersion": where.api_version,
        "kind": where.kind,
        **rest,
        "metadata": dict(metadata or {}),
    }


def placed(kind: Kind, obj: Plain, namespace: str, name: str = "") -> None:
    """Give the object the namespace of the URL, in place; 400 where it names another place."""
    metadata = obj["metadata"]
    said = metadata.get("namespace") or namespace
    if said != namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if kind.resource.namespaced:
        metadata["namespace"] = namespace
    else:
        metadata.pop("namespace", None)
    if name:
        _check_name(metadata, name)


def wipe(obj: Plain) -> None:
    """Drop, in place, what only the server says about a new object."""
    for name in _WIPED:
        obj["metadata"].pop(name, None)


def keep(obj: Plain, live: Plain) -> None:
    """Bring back, in place, what an update cannot change."""
    metadata, before = obj["metadata"], live["metadata"]
    for name in (*_KEPT, "generation", "resourceVersion"):
        if name in before:
            metadata[name] = before[name]
        else:
            metadata.pop(name, None)


def generated(base: str, chance: Chance) -> str:
    """A fresh name from generateName."""
    suffix = "".join(chance.random.choice(SUFFIX_ALPHABET) for _ in range(SUFFIX_LENGTH))
    return base[: NAME_LIMIT - SUFFIX_LENGTH] + suffix


def content(kind: Kind, obj: Mapping[str, Any]) -> Plain:
    """What generation counts: everything but metadata and a status of its own."""
    apart = {"metadata", "status"} if kind.resource.status else {"metadata"}
    return {key: value for key, value in obj.items() if key not in apart}


def deleting(obj: Plain) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def unique_owners(obj: Plain) -> bool:
    """Collapse equal owner references, in place; whether there were any."""
    owners = obj["metadata"].get("ownerReferences") or []
    unique = [owner for at, owner in enumerate(owners) if owner not in owners[:at]]
    if len(unique) == len(owners):
        return False
    obj["metadata"]["ownerReferences"] = unique
    return True


def check(kind: Kind, obj: Plain, live: Plain | None = None) -> None:
    """422 with every complaint about an object."""
    causes = [*_name_causes(kind, obj), *_map_causes(obj), *_owner_causes(obj)]
    causes += _finalizer_causes(obj, live)
    if kind.complaints is not None:
        causes += kind.complaints(obj)
    if causes:
        raise invalid(kind.resource, obj["metadata"].get("name", ""), *causes)


def check_immutable(kind: Kind, obj: Plain, live: Plain) -> None:
    """422 for an update that tries to set what nobody may change."""
    sent, before = obj["metadata"], live["metadata"]
    causes = [
        wrong(f"metadata.{name}", sent[name], "field is immutable")
        for name in ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")
        if sent.get(name) is not None and sent[name] != before.get(name)
    ]
    if causes:
        raise invalid(kind.resource, before["name"], *causes)


def _check_kind(kind: Kind, sent: Plain) -> None:
    where = kind.resource
    said, version = sent.get("kind"), sent.get("apiVersion")
    if kind.custom:
        if not said:
            raise bad_request("Object 'Kind' is missing in the request body")
        if said != where.kind:
            name = (sent.get("metadata") or {}).get("name", "")
            raise invalid(where, name, wrong("kind", said, f"must be {where.kind}"))
    if said and (said != where.kind or (version and version != where.api_version)):
        raise bad_request(
            f'{said} in version "{str(version).rpartition("/")[2]}" cannot be handled as a '
            f'{where.kind}: no kind "{said}" is registered for version "{version}"'
        )
    if kind.custom and version != where.api_version:
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({where.api_version})"
        )


def _check_name(metadata: Plain, name: str) -> None:
    said = metadata.setdefault("name", name)
    if said != name:
        raise bad_request(
            f"the name of the object ({said}) does not match the name on the URL ({name})"
        )


def _name_causes(kind: Kind, obj: Plain) -> Iterator[Cause]:
    name = obj["metadata"].get("name", "")
    if not name:
        yield required("metadata.name", "name or generateName is required")
    elif kind.resource.group == "rbac.authorization.k8s.io":
        if name in (".", "..") or "/" in name or "%" in name:
            yield wrong("metadata.name", name, "may not contain '/' or '%', nor be '.' or '..'")
    elif len(name) > _SUBDOMAIN_LIMIT or not _SUBDOMAIN.fullmatch(name):
        yield wrong("metadata.name", name, _SUBDOMAIN_TEXT)


def _map_causes(obj: Plain) -> Iterator[Cause]:
    labels = obj["metadata"].get("labels") or {}
    annotations = obj["metadata"].get("annotations") or {}
    for key, value in labels.items():
        if not _QUALIFIED.fullmatch(key):
            yield wrong("metadata.labels", key, _QUALIFIED_TEXT)
        if not isinstance(value, str) or not _LABEL_VALUE.fullmatch(value):
            yield wrong("metadata.labels", value, _LABEL_TEXT)
    for key in annotations:
        if not _QUALIFIED.fullmatch(key):
            yield wrong("metadata.annotations", key, _QUALIFIED_TEXT)
    if sum(len(key) + len(value) for key, value in annotations.items()) > ANNOTATIONS_LIMIT:
        yield Cause(
            "FieldValueTooLong",
            f"Too long: may not be more than {ANNOTATIONS_LIMIT} bytes",
            "metadata.annotations",
        )


def _owner_causes(obj: Plain) -> Iterator[Cause]:
    owners = obj["metadata"].get("ownerReferences") or []
    for at, owner in enumerate(owners):
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                yield wrong(
                    f"metadata.ownerReferences[{at}].{name}", "", f"{name} must not be empty"
                )
    controllers = [owner for owner in owners if owner.get("controller")]
    if len(controllers) > 1:
        names = ", ".join(f"{owner['kind']}/{owner['name']}" for owner in controllers)
        yield wrong(
            "metadata.ownerReferences",
            names,
            "Only one reference can have Controller set to true.",
        )


def _finalizer_causes(obj: Plain, live: Plain | None) -> Iterator[Cause]:
    finalizers = obj["metadata"].get("finalizers") or []
    for finalizer in finalizers:
        if not _QUALIFIED.fullmatch(finalizer):
            yield wrong("metadata.finalizers", finalizer, _QUALIFIED_TEXT)
    if live is None or not deleting(live):
        return
    new = sorted(set(finalizers) - set(live["metadata"].get("finalizers") or []))
    if new:
        listed = ", ".join(f'"{finalizer}"' for finalizer in new)
        yield forbidden_field(
            "metadata.finalizers",
            "no new finalizers can be added if the object is being deleted, found new finalizers "
            f"[]string{{{listed}}}",
        )
