"""ShouldCallHook: whether a webhook whose rules cover a change is called about it.

Its selectors look at labels, its conditions at everything. A condition that cannot be evaluated
counts as the failure policy says.
"""

from __future__ import annotations

from quintant.cluster.apiserver.meta.status import forbidden
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.webhooks.activation import Decide
from quintant.cluster.apiserver.webhooks.attributes import Attributes
from quintant.cluster.apiserver.webhooks.configuration import IGNORE, ConfiguredWebhook
from quintant.cluster.apiserver.webhooks.match_conditions import (
    MatchConditionError,
    conditions_match,
)
from quintant.cluster.apiserver.webhooks.selectors import SelectorMatcher


class Matcher:
    """Tells whether webhooks want to be asked."""

    def __init__(self, selectors: SelectorMatcher, decide: Decide) -> None:
        self._selectors, self._decide = selectors, decide

    def matches(self, hook: ConfiguredWebhook, attributes: Attributes, request: JsonObject) -> bool:
        """Whether a webhook is to be asked; StatusError if that cannot be told and matters."""
        if not self._selectors.matches(hook.namespaces, hook.objects, attributes):
            return False
        try:
            return not hook.conditions or conditions_match(
                hook.conditions, attributes, request, self._decide
            )
        except MatchConditionError as error:
            if hook.failure_policy == IGNORE:
                return False
            raise forbidden(attributes.kind.resource, attributes.name, str(error)) from None
