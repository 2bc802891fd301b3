"""ValidatePodTemplate, ValidateReplicationController: with their templates."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid, required
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import validate_enum, validate_nonnegative
from quintant.cluster.apiserver.validation.pods.pods import template_causes
from quintant.core.errors import Cause


def validate_pod_template(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a PodTemplate."""
    yield from template_causes("template", obj["template"])


def validate_replication_controller(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a ReplicationController."""
    spec = obj["spec"]
    selector, template = spec.get("selector") or {}, spec.get("template")
    yield from validate_nonnegative("spec.minReadySeconds", spec.get("minReadySeconds"))
    if not selector:
        yield required("spec.selector")
    yield from validate_nonnegative("spec.replicas", spec.get("replicas"))
    if template is None:
        yield required("spec.template")
    else:
        yield from _owned_causes("spec.template", template, selector)


def _owned_causes(path: str, template: JsonObject, selector: JsonObject) -> Iterator[Cause]:
    labels = (template.get("metadata") or {}).get("labels")
    if not selector.items() <= (labels or {}).items():
        text = "`selector` does not match template `labels`"
        yield invalid(f"{path}.metadata.labels", labels, text)
    yield from template_causes(path, template)
    yield from validate_enum(
        f"{path}.spec.restartPolicy", template["spec"]["restartPolicy"], ["Always"]
    )
    if "activeDeadlineSeconds" in template["spec"]:
        text = "activeDeadlineSeconds in ReplicationController is not Supported"
        yield forbidden(f"{path}.spec.activeDeadlineSeconds", text)


TEMPLATES = {
    "podtemplates": validate_pod_template,
    "replicationcontrollers": validate_replication_controller,
}
