"""DefaultBuildHandlerChain: everything between an authorised request and the store, put together.

Reads, writes with their admission, create-only resources, and the reconcilers, which draw the
consequences of every write before the next request is answered.
"""

from __future__ import annotations

from typing import Final

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.admission.plugin_names import default_off
from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.admission.plugins.namespace_lifecycle import (
    check_namespace,
    check_namespace_delete,
)
from quintant.cluster.apiserver.authorization.param_access import ParamAccess
from quintant.cluster.apiserver.filters.access import Access
from quintant.cluster.apiserver.handlers.admitted_write import AdmittedWrites
from quintant.cluster.apiserver.handlers.create_only import CreateOnlyResources
from quintant.cluster.apiserver.handlers.delete import Deletes
from quintant.cluster.apiserver.handlers.eviction import Evictions
from quintant.cluster.apiserver.handlers.get_list import Reads
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.handlers.subresources import is_create_only
from quintant.cluster.apiserver.handlers.verbs import ResourceHandlers
from quintant.cluster.apiserver.handlers.write import PureSteps, Writes
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import method_not_supported, resource_not_found
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.policy.mutating import MutatingPolicies
from quintant.cluster.apiserver.policy.reinvocation import MutatingAdmission
from quintant.cluster.apiserver.policy.validating import ValidatingPolicies
from quintant.cluster.apiserver.reconcilers.clusterrole_aggregation import ClusterRoleAggregation
from quintant.cluster.apiserver.reconcilers.crd_lifecycle import SERVER, CrdLifecycle
from quintant.cluster.apiserver.reconcilers.event_ttl import EventTtl
from quintant.cluster.apiserver.reconcilers.policy_status import PolicyStatus
from quintant.cluster.apiserver.reconcilers.quota_status import QuotaStatus
from quintant.cluster.apiserver.registry.bootstrap import first_objects, flow_control_objects
from quintant.cluster.apiserver.response.list_stream import ListStream
from quintant.cluster.apiserver.server.admission_chain import AdmissionChain
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.watch.hub import Watcher, WatchHub
from quintant.cluster.apiserver.webhooks.call import WebhookClient
from quintant.cluster.apiserver.webhooks.dialer import WebhookDialer
from quintant.cluster.apiserver.webhooks.dispatcher import WebhookDispatcher
from quintant.cluster.apiserver.webhooks.matcher import Matcher
from quintant.cluster.apiserver.webhooks.registry import WebhookRegistry
from quintant.cluster.apiserver.webhooks.selectors import SelectorMatcher
from quintant.core.clock import Clock, Random


class HandlerChain:
    """Answers requests about objects, whoever sent them."""

    def __init__(
        self,
        store: RevisionStore,
        catalog: Catalog,
        hub: WatchHub,
        access: Access,
        offload: Offload,
        *,
        clock: Clock,
        random: Random,
        dialer: WebhookDialer | None,
        managed: bool,
        disabled_plugins: frozenset[str] | None,
        steps: PureSteps,
    ) -> None:
        self._catalog, self._access, self._managed = catalog, access, managed
        self._event_ttl = EventTtl(store)
        self.advance: Final = self._event_ttl.advance
        self._webhook_client = WebhookClient(store, dialer)
        self._aggregation = ClusterRoleAggregation(store, catalog)
        self._quotas = QuotaStatus(store, catalog) if managed else None
        self._policy_status = PolicyStatus(store, catalog) if managed else None
        self._crds = CrdLifecycle(store, catalog, hub, clock, self._webhook_client, random)
        self._context, self._objects = AdmissionContext(store, random), ObjectStore(store)
        disabled = default_off(managed) if disabled_plugins is None else disabled_plugins
        params = ParamAccess(store, catalog, access.authorizer)
        admission = AdmissionChain(self._crds, access, params, self._context, disabled)
        self._writes = Writes(self._objects, clock, random, admission, steps)
        self._deletes = Deletes(self._objects, clock)
        self.writes: Writes = self._writes
        self.deletes: Deletes = self._deletes
        """For programs of the server that write by themselves."""
        self._webhooks = WebhookRegistry(store, catalog)
        matcher = Matcher(SelectorMatcher(store), access.authorizer.decide)
        webhooks = WebhookDispatcher(self._webhook_client, matcher, random, offload)
        self._policies = ValidatingPolicies(store, catalog, access.authorizer.decide, offload)
        self._mutating = MutatingPolicies(store, catalog, access.authorizer.decide, offload)
        admitted = AdmittedWrites(
            self._webhooks,
            MutatingAdmission(self._mutating, webhooks),
            self._policies,
            offload,
            webhooks,
            self._objects,
            self._writes,
            self._deletes,
        )
        self.admit_connect: Final = admitted.admit_connect
        self._create_only_resources = CreateOnlyResources(access, admitted, clock, random, offload)
        budgets = builtin_kind(catalog, "policy", "poddisruptionbudgets")
        evictions = Evictions(store, self._objects, self._deletes, budgets)
        self._handlers = ResourceHandlers(
            self._objects, hub, Reads(store, random), admitted, evictions, clock, offload, steps
        )

    async def handle(
        self, call: ApiRequest, request_info: RequestInfo, kind: Kind, user: User
    ) -> ApiResponse | Watcher | ListStream:
        """What comes of a request about a kind."""
        if kind.create_only or is_create_only(kind, request_info.subresource):
            return await self._create_only(call, request_info, kind, user)
        if request_info.verb == "watch":
            return await self._handlers.watch(call, request_info, kind)
        if request_info.verb == "delete":
            check_namespace_delete(ObjectRef(kind, name=request_info.name))
        try:
            return await self._handlers.handle(call, request_info, kind, user)
        finally:
            self._run_reconcilers()

    def bootstrap(self) -> None:
        """Make what every cluster has from its first moment, unless it is there."""
        # Nothing acts on those of flow control: a server by itself starts without them.
        for first in (*first_objects(), *(flow_control_objects() if self._managed else ())):
            target = ObjectRef(
                builtin_kind(self._catalog, first.group, first.plural), name=first.name
            )
            if self._objects.read(target) is None:
                self._writes.create(target, first.content(), SERVER)
        self.reload()

    def reload(self) -> None:
        """Look at everything again whose consequences are drawn here: the store is another."""
        self._access.authorizer.forget()
        self._webhooks.forget()
        self._policies.forget()
        self._mutating.forget()
        self._event_ttl.reload()
        self._crds.reload()
        self._aggregation.reload()
        for controller in (self._quotas, self._policy_status):
            if controller is not None:
                controller.reload()
        self._run_reconcilers()

    def close(self) -> None:
        """Write nothing any more by itself, and call nobody."""
        self._event_ttl.close()
        self._webhook_client.close()

    async def _create_only(
        self, call: ApiRequest, request_info: RequestInfo, kind: Kind, user: User
    ) -> ApiResponse:
        if not kind.create_only:
            target = ObjectRef(kind, request_info.namespace, request_info.name)
            check_namespace(target, self._context)
        elif request_info.name:
            raise resource_not_found()
        elif request_info.verb != "create":
            raise method_not_supported()
        return await self._create_only_resources.answer(call, request_info, kind, user)

    def _run_reconcilers(self) -> None:
        """Do what follows from the last write, until nothing does."""
        while (
            self._crds.reconcile(self._writes, self._deletes)
            or self._aggregation.reconcile(self._writes)
            or (self._quotas is not None and self._quotas.reconcile(self._writes))
            or (self._policy_status is not None and self._policy_status.reconcile(self._writes))
        ):
            pass


def builtin_kind(catalog: Catalog, group: str, plural: str) -> Kind:
    """A kind that every server has."""
    kind = catalog.find(group, "v1", plural)
    assert kind is not None, "a built-in kind is always served"
    return kind
