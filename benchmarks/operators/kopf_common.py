"""What both operators on kopf have in common: the child, and the way they are run."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import kopf
import uvloop


def child(body: kopf.Body, text: str) -> dict[str, Any]:
    """The ConfigMap of a custom resource, owned by it."""
    made: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": body.metadata.name, "namespace": body.metadata.namespace},
        "data": {"text": text},
    }
    kopf.append_owner_reference(made, owner=body)
    return made


def run() -> None:
    """Run until killed, with the defaults of `kopf run`, on uvloop."""
    kopf.configure(quiet="BENCH_QUIET" in os.environ)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(kopf.operator(standalone=True, namespace="default"))
