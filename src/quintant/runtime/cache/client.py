"""The client that controllers use: reads from caches, writes that are seen at once.

Reads are those of `Reader`. Writes are create, server-side apply, patch with a precondition, status
and delete; there is no PUT, because a typed object holds only the fields it models. Each write
passes the fence (leadership) in the step in which it leaves, is not torn by cancellation once it
has been sent, and is visible to reads when it returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal
from urllib.parse import parse_qsl

from quintant.client.merge_patch import make_merge_patch
from quintant.client.rest import APPLY, JSON_PATCH, MERGE, Patch, uninterrupted
from quintant.client.subresource import Subresource
from quintant.client.transport import ApiRequest
from quintant.client.undeclared_fields import UndeclaredFields
from quintant.core import codec
from quintant.core.errors import ConfigError, NotFound, ServerError
from quintant.core.object import K, Model, Object, ObjectMeta, Request
from quintant.core.resource import resource_of
from quintant.runtime.cache.apply_cache import STATUS, ApplyCache, apply_body, status_body
from quintant.runtime.cache.reader import Reader
from quintant.runtime.observe import logs
from quintant.runtime.watch.applied_fields import is_applied
from quintant.runtime.watch.scope import WatchScope

log: Final = logs.get_logger()

MANAGER = "quintant"
Validation = Literal["Ignore", "Warn", "Strict"]


@dataclass(frozen=True, slots=True)
class Client(Reader):
    """Typed access to the API server, for one field manager."""

    manager: str = MANAGER
    """The field manager of every write: the controller's name, and stable for ever."""
    dry_run: bool = False
    """Whether the server is to try every write and to keep none."""
    validation: Validation | None = None
    """What the server does about fields it does not know: None is its own default, Warn."""
    applied: ApplyCache = field(default_factory=ApplyCache, kw_only=True)
    undeclared: UndeclaredFields = field(default_factory=UndeclaredFields, kw_only=True)
    """What is left out of statuses, because the installed definition does not have it."""

    def fence(self) -> None:
        """Raise NotLeader when this process may no longer write.

        Every write passes the fence by itself; ask it before a change to something outside.
        """
        if self.rest.fence is not None:
            self.rest.fence()

    def with_field_manager(self, manager: str) -> Client:
        """The same client, writing as another field manager."""
        return replace(self, manager=manager, applied=ApplyCache())

    async def create(self, obj: K) -> K:
        """Create an object; AlreadyExists if its name is taken."""
        return await uninterrupted(self._create(obj))

    async def apply(self, obj: K, *, force: bool = True) -> K:
        """Make the server's object agree with every field set here (server-side apply).

        Fields this manager applied before and no longer sets are removed. Nothing is sent when
        the same body was applied before, by this process or an earlier one, and the object has not
        changed since. An object with a uid is applied to that very object: Conflict if it is gone,
        Invalid if it was replaced.
        """
        body = apply_body(obj)
        known = self._known(obj)
        if known is not None and self._is_there(known, body):
            return known
        return await uninterrupted(self._apply(obj, body, force=force))

    async def patch(self, new: K, *, since: K, sub: str = "") -> K:
        """Send the difference of two versions; Conflict if the object is not `since` any more.

        With `sub="status"` it goes to the subresource, which takes nothing but the status.
        """
        change = make_merge_patch(new, since)
        if not change:
            return new
        change.setdefault("metadata", {})["resourceVersion"] = since.metadata.resource_version
        patch = Patch(MERGE, codec.encode(change), idempotent=True)
        return await uninterrupted(self._patch(new, patch, sub))

    async def annotate(self, obj: K, annotations: Mapping[str, str | None], *, sub: str = "") -> K:
        """Set these annotations of this very object, whoever wrote them; None removes one.

        Invalid if a namesake has taken its place. With `sub="status"` the right to patch the status
        is enough, where the kind lets a status change metadata, as pods do: nobody changes a spec
        that way. Nothing is sent if they are so already.
        """
        known = self._known(obj)
        if known is not None and all(
            known.metadata.annotations.get(key) == value for key, value in annotations.items()
        ):
            return known
        very = {"uid": obj.metadata.uid} if obj.metadata.uid else {}
        change = {"metadata": {**very, "annotations": annotations}}
        patch = Patch(MERGE, codec.encode(change), idempotent=True)
        return await uninterrupted(self._patch(obj, patch, sub))

    async def set_status(self, obj: K, status: Model) -> K:
        """Make the status say this, through the subresource; nothing is sent if it does already.

        Only the fields set here are owned, so several controllers can each own theirs. Fields that
        the installed definition does not have are left out.
        """
        kind, resource = type(obj), resource_of(type(obj))
        if not resource.status:
            raise ConfigError(
                f"{resource.kind} has no status subresource",
                hint="declare it: @resource(..., status=True)",
            )
        known = self._known(obj) or obj
        if getattr(known, STATUS, None) == status:
            if self.caches is not None:
                self.caches.take_applied(known, self.manager, STATUS)
            return known
        whole = status_body(kind, obj.metadata, status)
        body = self.undeclared.leave_out(kind, whole)
        if self._is_there(known, body, STATUS):
            return known
        return await uninterrupted(self._apply_status(obj, whole))

    async def json_patch(
        self, kind: type[Object], meta: ObjectMeta, operations: Sequence[Mapping[str, Any]]
    ) -> None:
        """Send a JSON patch; guard it with test operations, for it has no other precondition.

        It needs no typed object, so it works on one that does not fit its type.
        """
        key, patch = Request(meta.name, meta.namespace), Patch(JSON_PATCH, codec.encode(operations))
        await uninterrupted(self._amend(kind, key, patch))

    async def delete(
        self,
        obj: Object,
        *,
        foreground: bool = False,
        orphan: bool = False,
        unchanged: bool = False,
        grace: int | None = None,
    ) -> None:
        """Delete this very object; it is no error if it is gone already.

        Conflict if a namesake has taken its place, or, with `unchanged`, if it changed since it was
        read. `foreground` deletes its dependants first, `orphan` none of them. `grace` is what a
        pod gets instead of its own grace period, in seconds: with 0 it is gone at once.
        """
        meta = obj.metadata
        preconditions = {"uid": meta.uid} if meta.uid else {}
        if unchanged:
            preconditions["resourceVersion"] = meta.resource_version
        options = {
            "propagationPolicy": (
                "Foreground" if foreground else "Orphan" if orphan else "Background"
            ),
            "preconditions": preconditions,
            **({} if grace is None else {"gracePeriodSeconds": grace}),
            **self._dry(),
        }
        await uninterrupted(self._delete(obj, options))

    async def delete_all(
        self,
        kind: type[Object],
        namespace: str = "",
        *,
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> None:
        """Delete every object that is selected, in one request; all of the namespace without any.

        Caches show it when the watch brings it. It needs the verb deletecollection.
        """
        scope = WatchScope(kind, namespace, labels or {}, fields or {})
        options = {"propagationPolicy": "Background", **self._dry()}
        await uninterrupted(self.rest.delete_all(kind, namespace, scope.query, options))

    def subresource(self, obj: Object, name: str) -> Subresource:
        """A subresource of an object, such as "scale", as plain data."""
        return Subresource(self.rest, obj, name, self._query())

    async def raw(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Any request at all; the path may carry a query."""
        path, _, given = path.partition("?")
        query, headers = dict(parse_qsl(given, keep_blank_values=True)), headers or {}
        if method in ("GET", "HEAD"):
            return (await self.rest.send(ApiRequest(method, path, query, headers))).body
        if self.dry_run:
            query["dryRun"] = "All"
        call = self.rest.write_call(method, path, query, headers, body)
        return (await uninterrupted(self.rest.send(call))).body

    # What follows runs to its end even if the caller is cancelled: the write, and its mark in the
    # caches and in the memory of what was applied.

    async def _create(self, obj: K) -> K:
        return self._stored(obj, await self.rest.create(obj, self._query()))

    async def _apply(self, obj: K, body: bytes, *, force: bool, sub: str = "") -> K:
        query = self._query(force=force)
        patch = Patch(APPLY, body, idempotent=True)
        raw = await self.rest.patch(type(obj), obj.key, patch, sub=sub, query=query)
        stored = self._stored(obj, raw)
        if not self.dry_run:
            self.applied.record(stored, body, sub)
            if self.caches is not None:
                self.caches.take_applied(stored, self.manager, sub)
        return stored

    async def _apply_status(self, obj: K, whole: bytes) -> K:
        kind = type(obj)
        while True:
            body = self.undeclared.leave_out(kind, whole)
            try:
                return await self._apply(obj, body, force=True, sub=STATUS)
            except ServerError as refused:
                if not (new := self.undeclared.learn(kind, refused.message)):
                    raise
                log.warning(
                    "leaving out undeclared fields", kind=resource_of(kind).kind, fields=new
                )

    async def _patch(self, obj: K, patch: Patch, sub: str) -> K:
        raw = await self.rest.patch(type(obj), obj.key, patch, sub=sub, query=self._query())
        return self._stored(obj, raw)

    async def _amend(self, kind: type[Object], key: Request, patch: Patch) -> None:
        raw = await self.rest.patch(kind, key, patch, query=self._query())
        if self.caches is not None and not self.dry_run:
            self.caches.record_raw_write(resource_of(kind), raw)

    async def _delete(self, obj: Object, options: Mapping[str, Any]) -> None:
        try:
            raw = await self.rest.delete(type(obj), obj.key, options)
        except NotFound:
            raw = b""
        if not self.dry_run:
            self._deleted(obj, raw)

    def _stored(self, obj: K, raw: bytes) -> K:
        stored = codec.decode(type(obj), raw)
        if self.caches is not None and not self.dry_run:
            self.caches.record_write(stored, raw)
        return stored

    def _deleted(self, obj: Object, raw: bytes) -> None:
        if raw and codec.decode_meta(raw).deletion_timestamp:
            # Finalizers or a grace period hold it: it is there still, and going.
            if self.caches is not None:
                self.caches.record_raw_write(resource_of(type(obj)), raw)
            return
        self.applied.forget(obj)
        if self.caches is not None:
            self.caches.record_delete(resource_of(type(obj)), obj.metadata)

    def _is_there(self, known: Object, body: bytes, sub: str = "") -> bool:
        """Whether applying `body` would change nothing, as far as this process or its caches know.

        What the caches know of an earlier process is asked once, and remembered as our own.
        """
        if self.applied.is_unchanged(known, body, sub):
            return True
        caches = self.caches
        fields = caches.take_applied(known, self.manager, sub) if caches is not None else None
        if fields is None or not is_applied(fields, known, body):
            return False
        self.applied.record(known, body, sub)
        return True

    def _known(self, obj: K) -> K | None:
        """What the caches hold of this very object; of its name, if it has no uid."""
        known = self.caches.find_anywhere(type(obj), obj.key) if self.caches is not None else None
        if known is None or known.metadata.uid != (obj.metadata.uid or known.metadata.uid):
            return None
        return known

    def _query(self, *, force: bool = False) -> dict[str, str]:
        query = {"fieldManager": self.manager}
        if force:
            query["force"] = "true"
        if self.dry_run:
            query["dryRun"] = "All"
        if self.validation:
            query["fieldValidation"] = self.validation
        return query

    def _dry(self) -> dict[str, Any]:
        return {"dryRun": ["All"]} if self.dry_run else {}
