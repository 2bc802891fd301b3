"""The rights of an operator: what its installation grants, what it took, and what is left over.

What it asked for is read off its requests (`FaultTransport.calls`), so that it is the same on the
embedded server and on a real one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from quintant.client.request_info import resource_path, verb_of
from quintant.core.yaml import load_all
from quintant.testing.faults.match import RequestMatch
from quintant.testing.faults.transport import SentRequest

DEPLOY = Path(__file__).parents[2] / "deploy"
APPLY, CREATED, FORBIDDEN = "apply", 201, 403
BLOCKS = (
    "a cluster may ask for it before it takes an owner reference that blocks deletion "
    "(OwnerReferencesPermissionEnforcement); no request names it"
)
WATCHED = "comes with every watched kind, for reads past the cache: this one is read from it alone"
"""Reasons to grant what nothing takes."""

without_streams = RequestMatch(lambda call: "sendInitialEvents" in call.query)
"""What a server refuses that cannot stream a first state: kinds are listed then."""


class Right(NamedTuple):
    """A verb on a resource, as a rule of a role grants it."""

    group: str
    resource: str
    verb: str


def granted(folder: Path) -> dict[tuple[str, str, str], str]:
    """What the roles of an installation grant: verbs, by namespace, group and resource."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for role in load_all((folder / "operator/rbac.yaml").read_bytes()):
        for rule in role.get("rules", ()):
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    key = role["metadata"].get("namespace", ""), group, resource
                    found.setdefault(key, set()).update(rule["verbs"])
    return {key: " ".join(sorted(verbs)) for key, verbs in found.items()}


def rights_of(operator: str) -> set[Right]:
    """What an operator may do, wherever it is."""
    return {
        Right(group, resource, verb)
        for (_, group, resource), verbs in granted(DEPLOY / operator).items()
        for verb in verbs.split()
    }


def rights_used(sent: Iterable[SentRequest]) -> set[Right]:
    """What requests took that were let through."""
    return {right for each in sent if each.outcome != FORBIDDEN for right in _taken(each)}


def rights_missing(sent: Iterable[SentRequest], held: set[Right]) -> set[Right]:
    """What was asked for and no role grants: a 403 of what is granted is a matter of admission."""
    return {right for each in sent for right in _taken(each)} - held


def _taken(sent: SentRequest) -> Iterable[Right]:
    at, verb = resource_path(sent.call.path), verb_of(sent.call)
    if not at.plural:
        return  # what there is everybody may ask
    resource = f"{at.plural}/{at.sub}" if at.sub else at.plural
    yield Right(at.group, resource, "patch" if verb == APPLY else verb)
    if verb == APPLY and sent.outcome == CREATED:
        yield Right(at.group, resource, "create")  # the server asks for both
