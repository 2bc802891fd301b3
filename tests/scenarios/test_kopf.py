"""An operator written with kopf runs on `quintant up`: handlers, status, events, finalizers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, watch

from quintant.die_with_parent import die_with_parent
from scenarios.server import environ
from scenarios.up import up

OPERATOR = Path(__file__).with_name("kopf_operator.py")
AT = ("example.com", "v1", "default", "kopfs")
WATCH_SECONDS = 60
"""For what should have happened long before; a busy machine is slow."""
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "kopfs.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "kopfs", "kind": "Kopf"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": OPEN},
            }
        ],
    },
}


@pytest.fixture
def api(tmp_path: Path) -> Iterator[client.ApiClient]:
    """A cluster with the operator on it."""
    with up(tmp_path) as kubeconfig, config.new_client_from_config(str(kubeconfig)) as found:
        client.ApiextensionsV1Api(found).create_custom_resource_definition(DEFINITION)
        with operating(kubeconfig):
            yield found


@contextmanager
def operating(kubeconfig: Path) -> Iterator[None]:
    command = die_with_parent(
        [sys.executable, "-m", "kopf", "run", "--standalone", "-n", "default", str(OPERATOR)]
    )
    environment = {**environ(), "KUBECONFIG": str(kubeconfig)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def test_a_kopf_operator_follows_an_object_to_its_end(api: client.ApiClient) -> None:
    custom: Any = client.CustomObjectsApi(api)
    body = {"apiVersion": "example.com/v1", "kind": "Kopf", "metadata": {"name": "a"}}
    made = custom.create_namespaced_custom_object(*AT, {**body, "spec": {"text": "one"}})
    one = followed(custom, made, lambda kind, obj: seen(obj) == "one")
    assert one["metadata"]["finalizers"] == ["kopf.zalando.org/KopfFinalizerMarker"]
    custom.patch_namespaced_custom_object(*AT, "a", {"spec": {"text": "two"}})
    two = followed(custom, one, lambda kind, obj: seen(obj) == "two")
    custom.delete_namespaced_custom_object(*AT, "a")
    followed(custom, two, lambda kind, obj: kind == "DELETED")
    events = client.CoreV1Api(api).list_namespaced_event("default", field_selector="reason=Seen")
    assert {event.message for event in events.items} == {"one", "two"}


def seen(obj: Any) -> Any:
    return obj.get("status", {}).get("seen")


def followed(custom: client.CustomObjectsApi, since: Any, until: Callable[[str, Any], bool]) -> Any:
    """The object as soon as, after an earlier state, it is as it should be."""
    stream = watch.Watch().stream(
        custom.list_namespaced_custom_object,
        *AT,
        resource_version=since["metadata"]["resourceVersion"],
        timeout_seconds=WATCH_SECONDS,
    )
    return next(event["object"] for event in stream if until(str(event["type"]), event["object"]))
