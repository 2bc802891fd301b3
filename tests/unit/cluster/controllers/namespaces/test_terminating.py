"""Workloads whose namespace is being deleted are no trouble to their controllers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from quintant.cluster.controllers import (
    cronjob,
    daemonset,
    deployment,
    job,
    replicaset,
    statefulset,
)
from quintant.runtime.manager.manager import Manager
from unit.cluster.api import Api, JsonObject, server
from unit.cluster.controllers.running_controllers import controlled
from unit.cluster.controllers.stub_kubelet import workload

SETTLED_SECONDS = 120.0
"""Of virtual time: a schedule has come, and what failed was tried again."""
POD = {"containers": [{"name": "main", "image": "one"}], "restartPolicy": "Never"}
JOB = {"template": {"spec": POD}}
CRON = {"metadata": {"name": "a"}, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": JOB}}}


@pytest.mark.parametrize(
    ("declare", "api_group", "plural", "obj"),
    [
        (cronjob.declare, "batch", "cronjobs", CRON),
        (daemonset.declare, "apps", "daemonsets", workload()),
        (deployment.declare, "apps", "deployments", workload()),
        (job.declare, "batch", "jobs", {"metadata": {"name": "a"}, "spec": JOB}),
        (replicaset.declare, "apps", "replicasets", workload()),
        (statefulset.declare, "apps", "statefulsets", workload()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_namespace_that_goes_makes_no_controller_complain(
    declare: Callable[[Manager], None], api_group: str, plural: str, obj: JsonObject
) -> None:
    served = server(rbac=False)
    api = Api(served)
    await api.create("/api/v1/nodes", {"metadata": {"name": "node"}})
    await api.create("/api/v1/namespaces", {"metadata": {"name": "going"}})
    path = f"/apis/{api_group}/v1/namespaces/going/{plural}"
    await api.create(path, obj)
    await api.delete("/api/v1/namespaces/going")
    with capture_logs() as lines:
        async with controlled(declare, on=served):
            await asyncio.sleep(SETTLED_SECONDS)
    assert [line for line in lines if line["log_level"] in ("error", "warning")] == []
    assert (await api.get("/api/v1/namespaces/going/pods"))["items"] == []
