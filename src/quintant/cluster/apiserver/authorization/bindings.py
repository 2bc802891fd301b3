"""RoleBinding, ClusterRoleBinding: which subjects get which role, and in which namespace.

Read from stored objects; a service account without a namespace is one of the binding's own.
"""

from __future__ import annotations

import msgspec

from quintant.cluster.apiserver.meta.user import User

GROUP = "rbac.authorization.k8s.io"


class BoundRole(msgspec.Struct, frozen=True, rename="camel"):
    """The role a binding gives."""

    kind: str = ""
    name: str = ""
    api_group: str = GROUP

    def __str__(self) -> str:
        return f'{self.kind.lower()}.{GROUP} "{self.name}"'


class RbacSubject(msgspec.Struct, frozen=True):
    """Whom a binding is about."""

    kind: str = ""
    name: str = ""
    namespace: str = ""

    def matches(self, user: User, default: str) -> bool:
        """Whether the user is meant; `default` is the binding's own namespace."""
        match self.kind:
            case "User":
                return self.name == user.name
            case "Group":
                return self.name in user.groups
            case "ServiceAccount":
                return user.account == (self.namespace or default, self.name)
        return False


class _Named(msgspec.Struct, frozen=True):
    name: str
    namespace: str = ""


class RbacBinding(msgspec.Struct, frozen=True, rename="camel"):
    """Who is given which role, and where: everywhere without a namespace."""

    metadata: _Named
    subjects: tuple[RbacSubject, ...] | None = None
    role_ref: BoundRole = BoundRole()

    def subject(self, user: User) -> RbacSubject | None:
        """The first subject that means a user."""
        namespace = self.metadata.namespace
        return next((each for each in self.subjects or () if each.matches(user, namespace)), None)

    def describe(self, subject: RbacSubject) -> str:
        """The binding and its subject, as a decision tells of them."""
        namespace, name = self.metadata.namespace, self.metadata.name
        own = f'RoleBinding "{name}/{namespace}"' if namespace else f'ClusterRoleBinding "{name}"'
        whom = subject.name
        if subject.kind == "ServiceAccount":
            whom = f"{whom}/{subject.namespace or namespace}"
        return f'{own} of {self.role_ref.kind} "{self.role_ref.name}" to {subject.kind} "{whom}"'
