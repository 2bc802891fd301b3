"""The operator on kopf as its documentation teaches it: a plain handler, the official client.

kopf runs such a handler in a thread, of which there are as many as Quintant has workers.
"""

from __future__ import annotations

import os
from typing import Any

import kopf
import kubernetes

from benchmarks.operators.kopf_common import child, run


@kopf.on.startup()
def start(settings: kopf.OperatorSettings, **_: Any) -> None:
    """Find the cluster; have as many threads as there are workers elsewhere."""
    kubernetes.config.load_kube_config()
    settings.execution.max_workers = int(os.environ["BENCH_WORKERS"])


@kopf.on.create("bench.quintant.dev", "v1", "greeters")
def create(body: kopf.Body, spec: kopf.Spec, patch: kopf.Patch, **_: Any) -> None:
    """Make the child, then say so."""
    sent: Any = child(body, spec["message"])
    try:
        kubernetes.client.CoreV1Api().create_namespaced_config_map("default", sent)
    except kubernetes.client.ApiException as error:
        if error.status != 409:
            raise
    patch.status["greeted"] = True


if __name__ == "__main__":
    run()
