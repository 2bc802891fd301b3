"""An operator on kopf with a mistake of docs/mistakes.md, or without it.

For each Widget it makes a ConfigMap, and notes its name in the status. MISTAKE says which mistake
it makes: twice, early or number; with MENDED it makes none.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

kopf: Any = import_module("kopf")
pykube: Any = import_module("pykube")

MISTAKE, MENDED = os.environ.get("MISTAKE", "twice"), "MENDED" in os.environ
last = 0


def configure(settings: Any, **_: Any) -> None:
    """Nothing of its own is kept in the object, so that the status is all there is to know."""
    settings.posting.enabled = False


def make(body: Any, name: str, namespace: str, status: Any, **_: Any) -> None:
    """Make the child of a Widget."""
    api = pykube.HTTPClient(pykube.KubeConfig.from_env())
    if status.get("child") and not (MISTAKE == "early" and MENDED):
        return
    child: dict[str, Any] = {"metadata": {"name": name, "namespace": namespace}}
    kopf.append_owner_reference(child, owner=body)
    widget = pykube.object_factory(api, "demo.dev/v1", "Widget").objects(api).get(name=name)
    if MISTAKE == "twice" and not MENDED:
        child["metadata"].update({"generateName": f"{name}-", "name": None})
    if MISTAKE == "number":
        child["data"] = {"number": str(next_number(api))}
    if MISTAKE == "early" and not MENDED:
        note(widget, name)
        create(api, child)
    else:
        note(widget, create(api, child))


def next_number(api: Any) -> int:
    """The number of the next child: from memory, or from those that are there."""
    global last
    if MENDED:
        known = pykube.ConfigMap.objects(api)
        last = max((int(each.obj.get("data", {}).get("number", 0)) for each in known), default=0)
    last += 1
    return last


def create(api: Any, child: dict[str, Any]) -> str:
    """Make a child, unless it is there; its name."""
    made = pykube.ConfigMap(api, child)
    try:
        made.create()
    except pykube.exceptions.HTTPError as error:
        if error.code != 409 or not child["metadata"].get("name"):
            raise
    return str(made.obj["metadata"]["name"])


def note(widget: Any, name: str) -> None:
    """Note the name of a child in the status."""
    widget.patch({"status": {"child": name}}, subresource="status")


kopf.on.startup()(configure)
for event in (kopf.on.create, kopf.on.resume):
    event("demo.dev", "v1", "widgets")(make)
