"""Namespaces that are about to go: what cannot be made there any more is not missed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from quintant.cluster.controllers.pods.control import NAMESPACE_TERMINATING
from quintant.core.errors import Forbidden


@contextmanager
def ignore_terminating() -> Iterator[None]:
    """Pass over the refusal of a new object whose namespace is being deleted."""
    try:
        yield
    except Forbidden as error:
        if not any(cause.reason == NAMESPACE_TERMINATING for cause in error.details.causes):
            raise
