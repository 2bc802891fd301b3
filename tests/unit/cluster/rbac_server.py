"""A server that enforces roles, its administrator, and whoever else a test needs."""

from __future__ import annotations

from typing import Any

from quintant.cluster.apiserver.meta.user import User, admin
from unit.cluster.api import Api, JsonObject, server

RBAC = "rbac.authorization.k8s.io"
CLUSTER = f"/apis/{RBAC}/v1"
LOCAL = f"{CLUSTER}/namespaces/default"


class RbacServer:
    """`root` may do everything, everybody else what is granted."""

    def __init__(self) -> None:
        self.server = server(rbac=True)
        self.root = self.user("root", admin("root"))

    def user(self, name: str, user: User | None = None) -> Api:
        """The requests of somebody; the token is the name."""
        self.server.tokens.add(name, user or User(name))
        return Api(self.server, name)

    async def grant(self, name: str, *rules: JsonObject, everywhere: bool = False) -> None:
        """Give somebody a role of their own."""
        base, kind = (CLUSTER, "ClusterRole") if everywhere else (LOCAL, "Role")
        plural = f"{kind.lower()}s"
        role = {"metadata": {"name": f"of-{name}"}, "rules": list(rules)}
        await self.root.create(f"{base}/{plural}", role)
        bound = binding(f"of-{name}", kind, f"of-{name}", subject(name))
        await self.root.create(f"{base}/{kind.lower()}bindings", bound)


def rule(verbs: str, resources: str, group: str = "", **more: Any) -> JsonObject:
    """A rule from words."""
    words = {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}
    return words | more


def subject(name: str, kind: str = "User") -> JsonObject:
    return {"kind": kind, "apiGroup": RBAC, "name": name}


def binding(name: str, kind: str, role: str, *subjects: JsonObject) -> JsonObject:
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
        "subjects": list(subjects),
    }
