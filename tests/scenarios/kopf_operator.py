"""A small operator by kopf, a framework nobody here wrote: `kopf run kopf_operator.py`."""

from __future__ import annotations

from typing import Any

import kopf


@kopf.on.create("example.com", "v1", "kopfs")
@kopf.on.update("example.com", "v1", "kopfs")
def reconcile(spec: Any, patch: kopf.Patch, body: kopf.Body, **_: Any) -> None:
    """Say on the object what was seen of it, and tell an event."""
    patch.status["seen"] = spec["text"]
    kopf.info(body, reason="Seen", message=spec["text"])


@kopf.on.delete("example.com", "v1", "kopfs")
def release(name: str, logger: kopf.Logger, **_: Any) -> None:
    """Hold the object until this has run: kopf adds a finalizer."""
    logger.info("released %s", name)
