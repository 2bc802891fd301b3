"""Keeps the volume claims: made once, grown in place, deleted unless retained.

They are made before the pods that use them, and deleted after those.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from quintant.api.volume import PersistentVolumeClaim
from quintant.core.errors import ApiError, Conflict, NotFound, ServerError, TooManyRequests
from quintant.core.text import one_line
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.observed.outcome import ClaimOutcome
from quintant.operators.cosmos.plan.children import adoptable
from quintant.operators.cosmos.plan.claims import (
    ClaimUpdate,
    Refusals,
    choose_sources,
    claim_outcome,
    grown_claim,
    note_growth,
    plan_growth,
    source_claims,
    wanted_claims,
)
from quintant.runtime.apply import Policy, check_current, control
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.keyed_state import KeyedState

POLICY = Policy(mark=MARK, update="leave", delete="leave", adopts=adoptable)


def _no_refusals() -> Refusals:
    return {}


@dataclass(frozen=True, slots=True)
class PvcControl:
    """Makes and grows claims, and deletes them later."""

    refusals: KeyedState[Refusals] = field(default_factory=lambda: KeyedState(_no_refusals))
    """What the server did not accept, and when it was asked."""

    async def __call__(self, client: Client, observed: Observed) -> ClaimOutcome:
        """Make and grow claims; those that are to go are in the outcome."""
        full_node, request = observed.full_node, observed.full_node.key
        sources = choose_sources(observed, await _live(client, observed))
        wanted = wanted_claims(observed, sources)
        changes = await control(client, wanted, observed.claims, by=full_node, policy=POLICY)
        for update in plan_growth(observed, changes.update, self.refusals[request]):
            message = await _grow(client, update)
            before = self.refusals[request]
            self.refusals[request] = note_growth(before, update, message, observed.now)
        return claim_outcome(observed, changes, sources, self.refusals[request])

    async def remove(self, client: Client, observed: Observed, outcome: ClaimOutcome) -> None:
        """Delete the claims that are to go, by the newest spec."""
        if outcome.surplus:
            await check_current(client, observed.full_node)
        for claim in outcome.surplus:
            await client.delete(claim, foreground=True)


async def _live(client: Client, observed: Observed) -> dict[str, PersistentVolumeClaim]:
    """The claims that new volumes are filled from, as the server has them."""
    namespace = observed.full_node.metadata.namespace
    claims = [
        await client.find(PersistentVolumeClaim, name, namespace, live=True)
        for name in source_claims(observed)
    ]
    return {each.metadata.name: each for each in claims if each is not None}


async def _grow(client: Client, update: ClaimUpdate) -> str:
    """Change a claim in place; what the server answers if it refuses."""
    try:
        await client.patch(grown_claim(update), since=update.have)
    except (Conflict, NotFound, ServerError, TooManyRequests):
        raise  # it is no answer to what was requested
    except ApiError as error:
        return one_line(error.message)
    return ""
