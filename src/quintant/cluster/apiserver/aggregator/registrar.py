"""autoRegisterController, ClientCARegistrationHook: what the server itself writes of all this."""

from __future__ import annotations

from functools import partial

from msgspec import Struct

from quintant.cluster.apiserver.aggregator.api_service import (
    GROUP,
    PLURAL,
    TABLE,
    read_api_service,
)
from quintant.cluster.apiserver.aggregator.auto_register import plan_registrations
from quintant.cluster.apiserver.aggregator.front_proxy import (
    FrontProxy,
    authentication_config,
    reader_role,
)
from quintant.cluster.apiserver.handlers.delete import Deletes
from quintant.cluster.apiserver.handlers.write import Writes
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.reconcilers.crd_lifecycle import SERVER
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.core.clock import Clock, timestamp

RBAC = "rbac.authorization.k8s.io"


class _Reported(Struct, frozen=True):
    status: JsonObject = {}


class Registrar:
    """Writes local APIServices, conditions, and what extension servers read."""

    def __init__(
        self,
        store: RevisionStore,
        catalog: Catalog,
        writes: Writes,
        deletes: Deletes,
        clock: Clock,
    ) -> None:
        self._store, self._catalog = store, catalog
        self._writes, self._deletes, self._clock = writes, deletes, clock
        self._registered: set[str] = set()

    def publish(self, front_proxy: FrontProxy) -> None:
        """Tell extension servers by what they know this server; its keys may be new."""
        for group, plural, wanted in (
            ("", "configmaps", authentication_config(front_proxy)),
            (RBAC, "roles", reader_role()),
        ):
            metadata = wanted["metadata"]
            target = self._target(group, plural, metadata["name"], metadata["namespace"])
            if self._exists(target):
                self._writes.update(target, partial(_replaced, wanted), SERVER)
            else:
                self._writes.create(target, wanted, SERVER)

    def register(self) -> None:
        """Have an APIService for all that this server serves itself."""
        scanned = self._store.table(TABLE).now.scan()
        live = {name: read_api_service(entry) for name, entry in scanned}
        plan = plan_registrations(self._catalog, live, self._registered)
        for each in plan.create:
            self._writes.create(self._api_service(each["metadata"]["name"]), each, SERVER)
        for each in plan.update:
            target = self._api_service(each["metadata"]["name"])
            self._writes.update(target, partial(_replaced, {"spec": each["spec"]}), SERVER)
        for name in plan.delete:
            self._deletes.delete(self._api_service(name))
        self._registered |= {each["metadata"]["name"] for each in plan.create} | live.keys()

    def mark(self, name: str, condition: StatusCondition) -> None:
        """Say of an APIService whether its server answers, unless it says so already."""
        entry = self._store.table(TABLE).entries.get(name)
        if entry is None or condition.is_exactly_set(stored_json.read(entry, _Reported).status):
            return
        target, now = self._api_service(name, "status"), timestamp(self._clock.now())
        self._writes.update_by_server(target, partial(_marked, condition, now), SERVER)

    def _exists(self, target: ObjectRef) -> bool:
        return target.key in self._store.table(target.kind.table).entries

    def _api_service(self, name: str, subresource: str = "") -> ObjectRef:
        return self._target(GROUP, PLURAL, name, subresource=subresource)

    def _target(
        self, group: str, plural: str, name: str, namespace: str = "", *, subresource: str = ""
    ) -> ObjectRef:
        kind: Kind | None = self._catalog.find(group, "v1", plural)
        assert kind is not None, "a built-in kind is always served"
        return ObjectRef(kind, namespace, name, subresource)


def _replaced(wanted: JsonObject, live: JsonObject) -> JsonObject:
    """The live object with what is wanted of it, beside its metadata."""
    return {**live, **{name: value for name, value in wanted.items() if name != "metadata"}}


def _marked(condition: StatusCondition, now: str, live: JsonObject) -> JsonObject:
    return {**live, "status": condition.set(live.get("status") or {}, now)}
