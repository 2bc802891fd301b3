"""The server's own admission: what it holds every write to, and adds to some."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.cluster.access import Access
from quintant.cluster.auth import User
from quintant.cluster.definitions import Definitions
from quintant.cluster.drafts import Draft, Target
from quintant.cluster.namespaces import Namespaces
from quintant.cluster.writes import Options


@dataclass(frozen=True, slots=True)
class Guard:
    """Admission that is part of the server."""

    namespaces: Namespaces
    definitions: Definitions
    access: Access

    def place(self, target: Target) -> None:
        """Refuse a new object where none may be."""
        self.namespaces.guard(target)
        self.definitions.guard(target)

    def admit(self, draft: Draft, options: Options) -> None:
        """Amend a draft or refuse it, in place."""

    def check(self, draft: Draft, user: User) -> None:
        """Refuse what a user may not make of an object."""
        self.access.check(draft, user)
