"""The role under which a manager is previewed: it reads what the manager reads or writes.

get of what is got or written, list of what is listed, watched or deleted by the dozen; no verb that
writes, no subresource, and neither leases nor events.
"""

from __future__ import annotations

from msgspec.structs import replace

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.core.object import Object
from quintant.core.resource import is_external_kind, resource_of
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.permissions import Permission, Permissions, verb_permissions
from quintant.runtime.manager.rbac import (
    rbac_objects,
    required_permissions,
    role_subject,
    setting_permissions,
)

SUFFIX = "-preview"
_LISTING = frozenset({"list", "watch", "deletecollection"})
_UNREAD = frozenset({"events", "leases"})


def preview_rbac(manager: Manager, namespace: str) -> tuple[Object, ...]:
    """A service account in a namespace, its roles and their bindings."""
    settings = replace(
        manager.settings, name=manager.name + SUFFIX, leader_elect=False, shards=None
    )
    external = [resource_of(kind).full_name for kind in manager.kinds() if is_external_kind(kind)]
    definitions = verb_permissions(CustomResourceDefinition, "get", names=external)
    needed = reading(
        required_permissions(manager.declarations) | setting_permissions(manager.settings)
    )
    return rbac_objects(
        role_subject(settings, namespace), needed | (definitions if external else Permissions())
    )


def reading(permissions: Permissions) -> Permissions:
    """What it takes to see what these permissions allow to do."""
    return Permissions(_read(held) for held in permissions if _is_read(held))


def _is_read(held: Permission) -> bool:
    return "/" not in held.resource and held.resource not in _UNREAD


def _read(held: Permission) -> Permission:
    return held._replace(verb="list" if held.verb in _LISTING else "get")
