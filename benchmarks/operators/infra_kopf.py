"""What infra does in a happy life, on kopf as its documentation teaches it.

That is: plain handlers in threads, the official client, and requests for the provider.

Nothing waits in a handler: whoever is not done raises TemporaryError and is called again. Waits and
looks are those of infra, and there are as many threads as infra has workers.
"""

from __future__ import annotations

import base64
import os
from typing import Any

import kopf
import kubernetes
import requests
import yaml

from benchmarks.operators.kopf_common import run

GROUP, VERSION, PLURAL = "infra.quintant.dev", "v1alpha1", "clusters"
NAMESPACE = "default"
FINALIZER = f"{GROUP}/infrastructure-resources-deletion"
AUTHORIZATION = '[{"id":"im","type":"InfrastructureManager","username":"us","password":"pw"}]'
POLLS = (2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0)
STABLE_SECONDS = 3.4
OBSERVE_SECONDS = float(os.environ.get("OBSERVE_INTERVAL", "60s").removesuffix("s"))
TARGET_SECONDS = 30.0
WORKERS = 20

_provider = requests.Session()


@kopf.on.startup()
def start(settings: kopf.OperatorSettings, **_: Any) -> None:
    """Find the cluster; progress is kept where a schema prunes nothing."""
    kubernetes.config.load_kube_config()
    settings.execution.max_workers = WORKERS
    settings.persistence.finalizer = FINALIZER
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage()
    _provider.headers.update({"Authorization": AUTHORIZATION, "Accept": "application/json"})
    _provider.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=WORKERS))


@kopf.index(GROUP, VERSION, "clouds")
def clouds(name: str, spec: kopf.Spec, **_: Any) -> dict[str, Any]:
    """The clouds there are."""
    return {name: spec["providerRef"]["name"]}


@kopf.on.create(GROUP, VERSION, PLURAL)
def create(
    body: kopf.Body, status: kopf.Status, patch: kopf.Patch, retry: int, **given: Any
) -> None:
    """Have it made, wait until it is, save its kubeconfig, look at it."""
    if not status.get("clusterID"):
        _begin(body, patch, sorted(given["clouds"]))
    word = _state(status["clusterID"])
    if word != "configured":
        raise kopf.TemporaryError(f"it is {word}", delay=_pause(retry))
    infrastructure = {"state": "configured", "vms": _machines(status["clusterID"])}
    if (status.get("infrastructure") or {}).get("state") != "configured":
        patch.status["infrastructure"] = infrastructure
        raise kopf.TemporaryError("it says it is configured", delay=STABLE_SECONDS)
    kubeconfig = _outputs(status["clusterID"])
    _save(body, kubeconfig)
    patch.status["operation"] = None
    patch.status["kubeconfigSecretRef"] = {"name": _secret(body.metadata.name), "key": "value"}
    patch.status["nodes"] = _look(kubeconfig)
    patch.status["state"] = "ONLINE"


def _begin(body: kopf.Body, patch: kopf.Patch, found: list[str]) -> None:
    to, name = {"kind": "Cloud", "name": found[0]}, body.metadata.name
    operation = {"type": "Create", "phase": "Prepared", "token": body.metadata.uid}
    record = {"state": "CREATING", "scheduledTo": to, "operation": operation}
    kubernetes.client.CustomObjectsApi().patch_namespaced_custom_object_status(
        GROUP, VERSION, NAMESPACE, PLURAL, name, {"status": record}
    )
    tosca = dict(body.spec["tosca"])
    sent = {**tosca, "metadata": {"infra_name": f"{name}--{body.metadata.uid}"}}
    _ask("POST", "/infrastructures", params={"dry_run": "true"}, json=sent)
    answer = _ask("POST", "/infrastructures", params={"async": "true"}, json=sent)
    id = answer.headers["InfID"]
    patch.status["clusterID"], patch.status["runningOn"] = id, to
    patch.status["lastAppliedTosca"] = tosca
    patch.status["operation"] = {**operation, "phase": "Submitted"}
    raise kopf.TemporaryError("it is being made", delay=POLLS[0])


@kopf.on.delete(GROUP, VERSION, PLURAL)
def delete(name: str, status: kopf.Status, patch: kopf.Patch, retry: int, **_: Any) -> None:
    """Have it deleted, and let it go once the provider has denied it twice."""
    id = status.get("clusterID", "")
    if status.get("state") != "DELETING":
        _ask("DELETE", f"/infrastructures/{id}", params={"async": "true"})
        patch.status["state"] = "DELETING"
        raise kopf.TemporaryError("it is being deleted", delay=POLLS[0])
    if _state(id) is not None:
        raise kopf.TemporaryError("it is still there", delay=_pause(retry))
    if not status.get("phaseMessage"):
        patch.status["phaseMessage"] = "the provider denies having it"
        raise kopf.TemporaryError("it is asked again to be sure", delay=POLLS[0])
    kubernetes.client.CoreV1Api().delete_namespaced_secret(_secret(name), NAMESPACE)


def _online(status: kopf.Status, meta: kopf.Meta, **_: Any) -> bool:
    return status.get("state") == "ONLINE" and not meta.get("deletionTimestamp")


@kopf.timer(GROUP, VERSION, PLURAL, interval=OBSERVE_SECONDS, when=_online)
def observe(status: kopf.Status, patch: kopf.Patch, **_: Any) -> None:
    """Look at the infrastructure."""
    if _state(status["clusterID"]) not in ("configured", None):
        patch.status["state"] = "FAILING_RECONCILIATION"


@kopf.timer(GROUP, VERSION, PLURAL, interval=TARGET_SECONDS, when=_online)
def observe_target(name: str, status: kopf.Status, patch: kopf.Patch, **_: Any) -> None:
    """Look at the made cluster, with the kubeconfig of its Secret."""
    secret = kubernetes.client.CoreV1Api().read_namespaced_secret(_secret(name), NAMESPACE)
    nodes = _look(base64.b64decode(secret.data["value"]).decode())
    if nodes != status.get("nodes"):
        patch.status["nodes"] = nodes


def _pause(retry: int) -> float:
    return POLLS[min(retry, len(POLLS) - 1)]


def _secret(name: str | None) -> str:
    return f"{name}-kubeconfig"


def _ask(method: str, path: str, **given: Any) -> requests.Response:
    """Ask the provider; what it denies having is an answer, too."""
    answer = _provider.request(method, os.environ["BENCH_PROVIDER"] + path, **given)
    if answer.status_code != 404:
        answer.raise_for_status()
    return answer


def _state(id: str) -> str | None:
    answer = _ask("GET", f"/infrastructures/{id}/state")
    return None if answer.status_code == 404 else answer.json()["state"]["state"]


def _machines(id: str) -> list[dict[str, Any]]:
    found = []
    for machine in ("0", "1"):
        (system,) = _ask("GET", f"/infrastructures/{id}/vms/{machine}").json()["radl"]
        addresses = [system["net_interface.0.ip"]]
        found.append({"id": machine, "name": system["instance_name"], "addresses": addresses})
    return found


def _outputs(id: str) -> str:
    found: str = _ask("GET", f"/infrastructures/{id}/outputs").json()["outputs"]["kubeconfig"]
    return found


def _save(body: kopf.Body, kubeconfig: str) -> None:
    meta = {"name": _secret(body.metadata.name), "namespace": NAMESPACE}
    secret: dict[str, Any] = {"metadata": meta, "stringData": {"value": kubeconfig}}
    kopf.append_owner_reference(secret, owner=body)
    sent: Any = secret
    try:
        kubernetes.client.CoreV1Api().create_namespaced_secret(NAMESPACE, sent)
    except kubernetes.client.ApiException as error:
        if error.status != 409:
            raise


def _look(kubeconfig: str) -> dict[str, int]:
    """Ask a made cluster for its nodes, and not whether it is ready: a request less."""
    target = kubernetes.config.new_client_from_config_dict(yaml.safe_load(kubeconfig))
    with target:
        nodes = kubernetes.client.CoreV1Api(target).list_node().items
    ready = [each for each in nodes if each.status.conditions[0].status == "True"]
    return {"total": len(nodes), "ready": len(ready)}


if __name__ == "__main__":
    run()
