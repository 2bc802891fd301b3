"""An operator on kopf with a mistake of docs/mistakes.md, or without it.

For each Widget it makes a ConfigMap, and notes its name in the status. MISTAKE says which mistake
it makes: twice, early or conflict; with MENDED it makes none.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

kopf: Any = import_module("kopf")
pykube: Any = import_module("pykube")

MISTAKE, MENDED = os.environ.get("MISTAKE", "twice"), "MENDED" in os.environ


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
    if MISTAKE == "early" and not MENDED:
        note(widget, name)
        create(api, child)
    else:
        note(widget, create(api, child))


def create(api: Any, child: dict[str, Any]) -> str:
    """Make a child, unless it is there; its name."""
    made = pykube.ConfigMap(api, child)
    try:
        made.create()
    except pykube.exceptions.HTTPError as error:
        if error.code != 409 or not (takes_for_granted() or made.exists()):
            raise
    return str(made.obj["metadata"]["name"])


def takes_for_granted() -> bool:
    """Whether every conflict is taken for a child that is there."""
    return MISTAKE == "conflict" and not MENDED


def note(widget: Any, name: str) -> None:
    """Note the name of a child in the status."""
    widget.patch({"status": {"child": name}}, subresource="status")


kopf.on.startup()(configure)
for event in (kopf.on.create, kopf.on.resume):
    event("demo.dev", "v1", "widgets")(make)
