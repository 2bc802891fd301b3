"""The console as templates, behind a switch of its own."""

from __future__ import annotations

from typing import Any

from manifests.charts import schemas
from manifests.charts.deployment_template import ANNOTATIONS, ENV, POD, PULL_POLICY, RESOURCES
from manifests.charts.policy_template import policy_template
from manifests.charts.templates import NAMESPACE, Plain, documents, labelled, template
from manifests.charts.values import Section, Value
from manifests.console_parts import console_parts
from manifests.kustomize import Parts
from quintant.console.manifests import NAMESPACE as HOME

VALUES = "console"
ABOUT = (
    "The console: the cluster on a web page, for users with a token of the cluster. Its role is to "
    "read what it shows, in all namespaces."
)
PARTS = ("rbac", "deployment", "service", "networkpolicy")


def console_values(image: str) -> Section:
    """What a user may say of it."""
    (container,) = _pod(_deployment(image))["containers"]
    return Section(
        ABOUT,
        {
            "enabled": Value("Whether the console is installed.", False, schemas.SWITCH),
            "resources": Value("Of its container.", container["resources"], schemas.RESOURCES),
            "env": Value("Further variables.", [], schemas.ENV),
        },
    )


def console_templates(image: str) -> dict[str, str]:
    """Its files, without the switch."""
    parts = _released(console_parts(image))
    (policy,) = parts["networkpolicy"]
    found = {each: documents(template([labelled(it)]) for it in parts[each]) for each in PARTS}
    deployment = labelled(_slotted(_deployment(image)))
    fragments = (ENV, RESOURCES, PULL_POLICY, *POD, ANNOTATIONS)
    return found | {
        "deployment": documents([template([deployment], fragments)]),
        "networkpolicy": policy_template(policy, []),
    }


def _deployment(image: str) -> Plain:
    (found,) = _released(console_parts(image))["deployment"]
    return found


def _slotted(deployment: Plain) -> Plain:
    """What a user of the chart may change becomes a slot."""
    pod, (container,) = _pod(deployment), _pod(deployment)["containers"]
    deployment["spec"]["template"]["metadata"]["annotations"] = ANNOTATIONS.slot
    container["resources"], container["imagePullPolicy"] = RESOURCES.slot, PULL_POLICY.slot
    container["env"].append(ENV.slot)
    pod |= {fragment.name: fragment.slot for fragment in POD}
    return deployment


def _pod(deployment: Plain) -> Plain:
    found: Plain = deployment["spec"]["template"]["spec"]
    return found


def _released(parts: Parts) -> Parts:
    """Objects in the namespace of the release; the console's own has its name, too."""
    return {part: [_moved(found) for found in objects] for part, objects in parts.items()}


def _moved(found: Any) -> Any:
    if isinstance(found, dict):
        home = {"namespace": NAMESPACE} if found.get("namespace") == HOME else {}
        return {key: _moved(inner) for key, inner in found.items()} | home
    return [_moved(inner) for inner in found] if isinstance(found, list) else found
