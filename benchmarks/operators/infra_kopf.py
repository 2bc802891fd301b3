"""What infra does in a happy life, on kopf: made, saved, looked at, deleted.

Nothing waits in a handler: whoever is not done raises TemporaryError and is called again. Waits and
looks are those of infra, and requests go through bare aiohttp sessions.
"""

from __future__ import annotations

import base64
import os
import ssl
from collections.abc import Mapping
from typing import Any

import aiohttp
import kopf
import yaml

from benchmarks.operators.kopf_common import run
from benchmarks.operators.session import session

GROUP, VERSION, PLURAL = "infra.quintant.dev", "v1alpha1", "clusters"
NAMESPACE = "default"
FINALIZER = f"{GROUP}/infrastructure-resources-deletion"
AUTHORIZATION = '[{"id":"im","type":"InfrastructureManager","username":"us","password":"pw"}]'
POLLS = (2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0)
STABLE_SECONDS = 3.4
OBSERVE_SECONDS = float(os.environ.get("OBSERVE_INTERVAL", "60s").removesuffix("s"))
TARGET_SECONDS = 30.0
MERGE = {"Content-Type": "application/merge-patch+json"}

_sessions: dict[str, aiohttp.ClientSession] = {}


@kopf.on.startup()
async def start(settings: kopf.OperatorSettings, **_: Any) -> None:
    """Open the sessions; progress is kept where a schema prunes nothing."""
    settings.persistence.finalizer = FINALIZER
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage()
    _sessions["api"] = session()
    _sessions["im"] = aiohttp.ClientSession(
        os.environ["BENCH_PROVIDER"],
        headers={"Authorization": AUTHORIZATION, "Accept": "application/json"},
    )


@kopf.on.cleanup()
async def stop(**_: Any) -> None:
    """Close the sessions."""
    for each in _sessions.values():
        await each.close()


@kopf.index(GROUP, VERSION, "clouds")
def clouds(name: str, spec: kopf.Spec, **_: Any) -> dict[str, Any]:
    """The clouds there are."""
    return {name: spec["providerRef"]["name"]}


@kopf.on.create(GROUP, VERSION, PLURAL)
async def create(
    body: kopf.Body, status: kopf.Status, patch: kopf.Patch, retry: int, **given: Any
) -> None:
    """Have it made, wait until it is, save its kubeconfig, look at it."""
    if not status.get("clusterID"):
        await _begin(body, patch, sorted(given["clouds"]))
    word = await _state(status["clusterID"])
    if word != "configured":
        raise kopf.TemporaryError(f"it is {word}", delay=_pause(retry))
    infrastructure = {"state": "configured", "vms": await _machines(status["clusterID"])}
    if (status.get("infrastructure") or {}).get("state") != "configured":
        patch.status["infrastructure"] = infrastructure
        raise kopf.TemporaryError("it says it is configured", delay=STABLE_SECONDS)
    kubeconfig = await _outputs(status["clusterID"])
    await _save(body, kubeconfig)
    patch.status["operation"] = None
    patch.status["kubeconfigSecretRef"] = {"name": _secret(body.metadata.name), "key": "value"}
    patch.status["nodes"] = await _look(kubeconfig)
    patch.status["state"] = "ONLINE"


async def _begin(body: kopf.Body, patch: kopf.Patch, found: list[str]) -> None:
    to, name = {"kind": "Cloud", "name": found[0]}, body.metadata.name
    operation = {"type": "Create", "phase": "Prepared", "token": body.metadata.uid}
    record = {"state": "CREATING", "scheduledTo": to, "operation": operation}
    path = f"/apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/{PLURAL}/{name}/status"
    async with _sessions["api"].patch(path, json={"status": record}, headers=MERGE) as answer:
        answer.raise_for_status()
    tosca = dict(body.spec["tosca"])
    sent = {**tosca, "metadata": {"infra_name": f"{name}--{body.metadata.uid}"}}
    dry = {"dry_run": "true"}
    async with _sessions["im"].post("/infrastructures", params=dry, json=sent) as answer:
        answer.raise_for_status()
    later = {"async": "true"}
    async with _sessions["im"].post("/infrastructures", params=later, json=sent) as answer:
        answer.raise_for_status()
        id = answer.headers["InfID"]
    patch.status["clusterID"], patch.status["runningOn"] = id, to
    patch.status["lastAppliedTosca"] = tosca
    patch.status["operation"] = {**operation, "phase": "Submitted"}
    raise kopf.TemporaryError("it is being made", delay=POLLS[0])


@kopf.on.delete(GROUP, VERSION, PLURAL)
async def delete(name: str, status: kopf.Status, patch: kopf.Patch, retry: int, **_: Any) -> None:
    """Have it deleted, and let it go once the provider has denied it twice."""
    id = status.get("clusterID", "")
    if status.get("state") != "DELETING":
        async with _sessions["im"].delete(f"/infrastructures/{id}", params={"async": "true"}):
            patch.status["state"] = "DELETING"
        raise kopf.TemporaryError("it is being deleted", delay=POLLS[0])
    if await _state(id) is not None:
        raise kopf.TemporaryError("it is still there", delay=_pause(retry))
    if not status.get("phaseMessage"):
        patch.status["phaseMessage"] = "the provider denies having it"
        raise kopf.TemporaryError("it is asked again to be sure", delay=POLLS[0])
    async with _sessions["api"].delete(f"{_secrets()}/{_secret(name)}"):
        pass


def _online(status: kopf.Status, meta: kopf.Meta, **_: Any) -> bool:
    return status.get("state") == "ONLINE" and not meta.get("deletionTimestamp")


@kopf.timer(GROUP, VERSION, PLURAL, interval=OBSERVE_SECONDS, when=_online)
async def observe(status: kopf.Status, patch: kopf.Patch, **_: Any) -> None:
    """Look at the infrastructure."""
    if await _state(status["clusterID"]) not in ("configured", None):
        patch.status["state"] = "FAILING_RECONCILIATION"


@kopf.timer(GROUP, VERSION, PLURAL, interval=TARGET_SECONDS, when=_online)
async def observe_target(name: str, status: kopf.Status, patch: kopf.Patch, **_: Any) -> None:
    """Look at the made cluster, with the kubeconfig of its Secret."""
    async with _sessions["api"].get(f"{_secrets()}/{_secret(name)}") as answer:
        answer.raise_for_status()
        secret = await answer.json()
    nodes = await _look(base64.b64decode(secret["data"]["value"]).decode())
    if nodes != status.get("nodes"):
        patch.status["nodes"] = nodes


def _pause(retry: int) -> float:
    return POLLS[min(retry, len(POLLS) - 1)]


def _secret(name: str | None) -> str:
    return f"{name}-kubeconfig"


def _secrets() -> str:
    return f"/api/v1/namespaces/{NAMESPACE}/secrets"


async def _state(id: str) -> str | None:
    async with _sessions["im"].get(f"/infrastructures/{id}/state") as answer:
        if answer.status == 404:
            return None
        answer.raise_for_status()
        told: str = (await answer.json())["state"]["state"]
        return told


async def _machines(id: str) -> list[dict[str, Any]]:
    found = []
    for machine in ("0", "1"):
        async with _sessions["im"].get(f"/infrastructures/{id}/vms/{machine}") as answer:
            (system,) = (await answer.json())["radl"]
        addresses = [system["net_interface.0.ip"]]
        found.append({"id": machine, "name": system["instance_name"], "addresses": addresses})
    return found


async def _outputs(id: str) -> str:
    async with _sessions["im"].get(f"/infrastructures/{id}/outputs") as answer:
        found: str = (await answer.json())["outputs"]["kubeconfig"]
        return found


async def _save(body: kopf.Body, kubeconfig: str) -> None:
    meta = {"name": _secret(body.metadata.name), "namespace": NAMESPACE}
    secret: dict[str, Any] = {"metadata": meta, "stringData": {"value": kubeconfig}}
    kopf.append_owner_reference(secret, owner=body)
    async with _sessions["api"].post(_secrets(), json=secret) as answer:
        if answer.status != 409:
            answer.raise_for_status()


async def _look(kubeconfig: str) -> dict[str, int]:
    """Ask a made cluster whether it is ready, and for its nodes."""
    config = yaml.load(kubeconfig, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    trusted = base64.b64decode(cluster["certificate-authority-data"]).decode()
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cadata=trusted))
    headers = {"Authorization": f"Bearer {user['token']}", "Accept": "application/json"}
    async with aiohttp.ClientSession(
        cluster["server"], connector=connector, headers=headers
    ) as target:
        async with target.get("/readyz") as answer:
            answer.raise_for_status()
        async with target.get("/api/v1/nodes") as answer:
            nodes: list[Mapping[str, Any]] = (await answer.json())["items"]
    ready = [each for each in nodes if each["status"]["conditions"][0]["status"] == "True"]
    return {"total": len(nodes), "ready": len(ready)}


if __name__ == "__main__":
    run()
