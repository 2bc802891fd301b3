"""newReinvocationHandler: mutating admission, and once more where it changed something.

policies ─► webhooks ─► changed? ─► the server's own plugins ─► policies ─► webhooks
                                    └──────── those that ask to be reinvoked ──────┘
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from quintant.cluster.apiserver.golang.json import copy_json
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.policy.mutating import MutatingPolicies
from quintant.cluster.apiserver.webhooks.attributes import Attributes
from quintant.cluster.apiserver.webhooks.dispatcher import Revise, WebhookDispatcher
from quintant.cluster.apiserver.webhooks.registry import MatchedWebhook

Plugins = Callable[[JsonObject], None]
"""What the server's own plugins do to an object that was changed, in place."""


class MutatingAdmission(msgspec.Struct, frozen=True):
    """Mutating policies and webhooks, in their order."""

    policies: MutatingPolicies
    webhooks: WebhookDispatcher

    def concerns(
        self, matched: Sequence[MatchedWebhook], kind: Kind, sub: str, operation: str
    ) -> bool:
        """Whether a policy or one of the webhooks may mutate what an operation writes."""
        return True if matched else self.policies.concern(kind, sub, operation)

    async def admit(
        self,
        matched: Sequence[MatchedWebhook],
        attributes: Attributes,
        revise: Revise,
        plugins: Plugins,
    ) -> tuple[Attributes, list[str]]:
        """The change after everything that mutates it, and what its author is told."""
        warnings: list[str] = []
        policies = await self.policies.admit(attributes, revise)
        webhooks = await self.webhooks.admit(matched, policies.attributes, revise, warnings)
        after = webhooks.attributes
        if after.obj is None or not (policies.mutated or after.obj is not attributes.obj):
            return after, warnings
        after = _completed(after, after.obj, plugins)
        try:
            after = await self.policies.readmit(policies, after, revise)
        except StatusError as problem:
            raise problem.with_warnings(*warnings) from None
        return await self.webhooks.readmit(webhooks, after, revise, warnings), warnings


def _completed(attributes: Attributes, obj: JsonObject, plugins: Plugins) -> Attributes:
    completed = copy_json(obj)
    plugins(completed)
    return attributes if completed == obj else replace(attributes, obj=completed)
