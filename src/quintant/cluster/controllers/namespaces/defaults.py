"""ServiceAccountsController, RootCACertPublisher: `default` and kube-root-ca.crt.

Both are made as soon as a namespace is there, and made again, or made right, when somebody deletes
or changes them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from quintant.api.core import ConfigMap, Namespace, ServiceAccount
from quintant.core.errors import AlreadyExists, Forbidden, NotFound
from quintant.core.object import Metadata, Object, ObjectMeta, Request, replace
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import KeyContext

ACCOUNT = "default"
"""The service account of pods that name none."""
BUNDLE = "kube-root-ca.crt"
"""The ConfigMap by which pods know the API server."""
CERTIFICATE = "ca.crt"
DESCRIPTION = {"kubernetes.io/description": "Trust this to talk to the cluster's API server."}
_NAME = "metadata.name"


def declare(manager: Manager) -> None:
    """Add the controller of default service accounts to a manager."""
    (
        manager.keyed("serviceaccount-controller")
        .watches(Namespace, to=lambda namespace: [namespace.key])
        .watches(Metadata[ServiceAccount], to=_namespace_of, fields={_NAME: ACCOUNT})
        .uses(ServiceAccount, "create")
        .reconcile(_account)
    )


def publishing(authority: bytes) -> Callable[[Manager], None]:
    """The declaration of the controller that gives every namespace this certificate."""
    wanted = {CERTIFICATE: authority.decode()}

    async def publish(request: Request, ctx: KeyContext) -> None:
        there = await ctx.client.find(ConfigMap, BUNDLE, request.name)
        if there is None:
            meta = ObjectMeta(name=BUNDLE, namespace=request.name, annotations=DESCRIPTION)
            await _ensure_object(request, ConfigMap(metadata=meta, data=wanted), ctx)
        elif (there.data, there.binary_data) != (wanted, {}):
            with suppress(NotFound):
                await ctx.client.patch(replace(there, data=wanted, binary_data={}), since=there)

    def declare(manager: Manager) -> None:
        (
            manager.keyed("root-ca-certificate-publisher-controller")
            .watches(Namespace, to=lambda namespace: [namespace.key])
            .watches(ConfigMap, to=_namespace_of, fields={_NAME: BUNDLE})
            .uses(ConfigMap, "create", "patch")
            .reconcile(publish)
        )

    return declare


async def _account(request: Request, ctx: KeyContext) -> None:
    if await ctx.client.find(Metadata[ServiceAccount], ACCOUNT, request.name) is None:
        meta = ObjectMeta(name=ACCOUNT, namespace=request.name)
        await _ensure_object(request, ServiceAccount(metadata=meta), ctx)


async def _ensure_object(request: Request, obj: Object, ctx: KeyContext) -> None:
    """Create an object in a namespace, if that is there to stay."""
    namespace = await ctx.client.find(Namespace, request.name)
    if namespace is None or namespace.deleting:
        return
    # The namespace may be on its way out since we looked: its contents go with it.
    with suppress(AlreadyExists, Forbidden, NotFound):
        await ctx.client.create(obj)


def _namespace_of(obj: Object) -> list[Request]:
    return [Request(obj.metadata.namespace)]
