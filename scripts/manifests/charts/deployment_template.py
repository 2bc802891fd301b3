"""The Deployment of an operator as a template, and the values that were in it."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from manifests.charts.templates import EACH, Fragment, Plain, block, scalar
from quintant.runtime.manager.rbac import NAME_LABEL

WATCHED = Fragment(
    "watched", f"{{{{- range .Values.namespaces }}}}\n- --namespace={EACH}\n{{{{- end }}}}"
)
ENV = Fragment("env", "{{- with $operator.env }}\n{{- toYaml . | nindent <0> }}\n{{- end }}")
RESOURCES = block("resources", "$operator.resources")
PULL_POLICY = scalar("imagePullPolicy", ".Values.image.pullPolicy")
POD = (
    block("imagePullSecrets", ".Values.imagePullSecrets"),
    block("nodeSelector", ".Values.nodeSelector"),
    scalar("priorityClassName", ".Values.priorityClassName"),
    block("tolerations", ".Values.tolerations"),
)
ANNOTATIONS = block("annotations", ".Values.podAnnotations")
_SPREAD = "topologySpreadConstraints"
_SPREAD_TEXT = """\
{{{{- if gt (int $operator.replicas) 1 }}}}
{{{{- with .Values.topologySpreadConstraints }}}}
topologySpreadConstraints:
{{{{- range . }}}}
- labelSelector:
    matchLabels:
      {label}: {name}
  {{{{- toYaml . | nindent <2> }}}}
{{{{- end }}}}
{{{{- end }}}}
{{{{- end }}}}"""


class DeploymentTemplate(NamedTuple):
    """A Deployment with slots, what goes into them, and what was there before."""

    deployment: Plain
    fragments: tuple[Fragment, ...]
    resources: Plain
    tolerations: list[Plain]
    spread: list[Plain]


def deployment_template(found: Plain) -> DeploymentTemplate:
    """What a user of the chart may change becomes a slot; all else stays as it is."""
    deployment: Any = copy.deepcopy(found)
    spec, name = deployment["spec"], deployment["metadata"]["name"]
    pod, (container,) = spec["template"]["spec"], spec["template"]["spec"]["containers"]
    spread = Fragment(_SPREAD, _SPREAD_TEXT.format(label=NAME_LABEL, name=name))
    made = DeploymentTemplate(
        deployment,
        (WATCHED, ENV, RESOURCES, PULL_POLICY, *POD, ANNOTATIONS, spread),
        container["resources"],
        pod["tolerations"],
        [_without_selector(each) for each in pod[_SPREAD]],
    )
    spec["replicas"] = "{{ $operator.replicas }}"
    spec["template"]["metadata"]["annotations"] = ANNOTATIONS.slot
    container["resources"], container["imagePullPolicy"] = RESOURCES.slot, PULL_POLICY.slot
    container["env"].append(ENV.slot)
    container["args"] = [
        WATCHED.slot if word == f"--namespace={EACH}" else word for word in container["args"]
    ]
    pod |= {fragment.name: fragment.slot for fragment in (*POD, spread)}
    return made


def _without_selector(constraint: Plain) -> Plain:
    return {key: value for key, value in constraint.items() if key != "labelSelector"}
