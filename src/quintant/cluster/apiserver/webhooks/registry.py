"""NewValidatingWebhookConfigurationManager: the webhooks of all configurations, kept up to date.

Configurations are asked in the order of their names, and their webhooks in the order in which they
are listed. What concerns a resource is remembered until a configuration changes, so that the usual
answer, nothing, costs a look into a dictionary.
"""

from __future__ import annotations

from msgspec import Struct

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table
from quintant.cluster.apiserver.webhooks.configuration import ConfiguredWebhook, read_webhooks
from quintant.cluster.apiserver.webhooks.rules import equivalent_kinds

GROUP = "admissionregistration.k8s.io"
MUTATING = "mutatingwebhookconfigurations"
VALIDATING = "validatingwebhookconfigurations"
PLURALS = (MUTATING, VALIDATING)
MOST_REMEMBERED = 10_000
"""Answers remembered before all are forgotten: kinds come and go with their definitions."""


class MatchedWebhook(Struct, frozen=True):
    """A webhook to be asked, and the version of the resource it wants to see."""

    hook: ConfiguredWebhook
    kind: Kind


NO_WEBHOOKS: tuple[MatchedWebhook, ...] = ()


class WebhookRegistry:
    """Which webhooks there are for what."""

    def __init__(self, store: RevisionStore, catalog: Catalog) -> None:
        self._store, self._catalog = store, catalog
        self._hooks: tuple[ConfiguredWebhook, ...] | None = None
        self._matched: dict[tuple[Kind, str, str], tuple[MatchedWebhook, ...]] = {}
        store.subscribe(self._store_changed)

    def forget(self) -> None:
        """Read everything anew: a configuration changed, or the store's contents were exchanged."""
        self._hooks = None
        self._matched.clear()

    def matching(self, kind: Kind, sub: str, operation: str) -> tuple[MatchedWebhook, ...]:
        """The webhooks whose rules cover an operation, mutating ones first, in order."""
        hooks = self._read() if self._hooks is None else self._hooks
        if not hooks:
            return NO_WEBHOOKS
        key = (kind, sub, operation)
        found = self._matched.get(key)
        if found is None:
            if len(self._matched) >= MOST_REMEMBERED:
                self._matched.clear()
            found = self._matched[key] = self._find(hooks, *key)
        return found

    def _find(
        self, hooks: tuple[ConfiguredWebhook, ...], kind: Kind, sub: str, operation: str
    ) -> tuple[MatchedWebhook, ...]:
        if kind.resource.group == GROUP:
            # Otherwise a webhook could not be taken away again.
            return NO_WEBHOOKS
        seen = ((hook, self._matching_kind(hook, kind, sub, operation)) for hook in hooks)
        return tuple(MatchedWebhook(hook, shown) for hook, shown in seen if shown is not None)

    def _matching_kind(
        self, hook: ConfiguredWebhook, kind: Kind, sub: str, operation: str
    ) -> Kind | None:
        """The version that a webhook sees; None if it is not concerned."""
        if any(rule.covers(kind, sub, operation) for rule in hook.rules):
            return kind
        if hook.exact:
            return None
        others = equivalent_kinds(self._catalog, kind)
        for rule in hook.rules:
            for other in others:
                if rule.covers(other, sub, operation):
                    return other
        return None

    def _read(self) -> tuple[ConfiguredWebhook, ...]:
        found: list[ConfiguredWebhook] = []
        for plural in PLURALS:
            kind = self._catalog.find(GROUP, "v1", plural)
            assert kind is not None, "a built-in kind is always served"
            table = self._store.table(kind.table)
            for key in table.keys:
                obj = stored_json.unpack(kind, table.entries[key])
                found += read_webhooks(obj, mutating=plural == MUTATING)
        self._hooks = tuple(found)
        return self._hooks

    def _store_changed(self, table: Table, change: Change) -> None:
        if table.name.endswith(GROUP):
            self.forget()
