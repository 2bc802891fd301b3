"""NamespaceTerminatingCause: what a namespace that is being deleted refuses is no error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from quintant.cluster.controllers.pods.control import namespace_terminating
from quintant.core.errors import Forbidden
from quintant.core.object import Object
from quintant.runtime.reconcile.context import Context, Reconciler
from quintant.runtime.reconcile.result import Result

ObjectT = TypeVar("ObjectT", bound=Object)


@contextmanager
def ignore_terminating() -> Iterator[None]:
    """Pass over the refusal of a new object whose namespace is being deleted."""
    try:
        yield
    except Forbidden as error:
        if not namespace_terminating(error):
            raise


def unless_terminating(reconcile: Reconciler[ObjectT]) -> Reconciler[ObjectT]:
    """A reconciler that has nothing left to do once the namespace lets it make nothing more."""

    async def reconciled(obj: ObjectT, ctx: Context[ObjectT]) -> Result | None:
        try:
            return await reconcile(obj, ctx)
        except Forbidden as error:
            if not namespace_terminating(error):
                raise
            return None

    return reconciled
