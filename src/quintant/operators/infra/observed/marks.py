"""Marks: by what an infrastructure is recognised, in its template or in what is left of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quintant.operators.infra.builders import INFRA_NAME, MARKS


@dataclass(frozen=True, slots=True)
class InfrastructureMarks:
    """What an infrastructure is recognised by: it stands in the template that it was made from."""

    token: str = ""
    """Of the request that made it; of one that was changed since, the Cluster's uid."""
    uid: str = ""
    """Of the Cluster that it was made for."""
    owner: str = ""
    """The instance of the operator."""
    name: str = ""
    """What the provider calls it; all that is left if it lost the template."""

    def match(self, wanted: InfrastructureMarks) -> bool:
        """Whether these are the marks that are looked for; what is empty matches nothing."""
        if self.token and self.token in (wanted.token, wanted.uid):
            return True
        known = self.uid and self.owner
        return bool(known) and (self.uid, self.owner) == (wanted.uid, wanted.owner)


def marks_of(document: Mapping[str, Any]) -> InfrastructureMarks:
    """The marks in a template; those that are no text are none."""
    metadata = document.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    texts = (given.get(each) for each in (*MARKS, INFRA_NAME))
    return InfrastructureMarks(*(each if isinstance(each, str) else "" for each in texts))


def marks_in_name(name: str) -> InfrastructureMarks:
    """The marks of an infrastructure of which only the name is left."""
    _, marked, token = name.rpartition("--")
    return InfrastructureMarks(token=token if marked else "", name=name)
