"""The chart of programs: each behind a switch, all in the namespace of the release."""

from __future__ import annotations

from manifests.charts.chart_page import chart_file, readme
from manifests.charts.chart_parts import chart_parts
from manifests.charts.console_template import VALUES as CONSOLE
from manifests.charts.console_template import console_templates, console_values
from manifests.charts.deployment_template import DeploymentTemplate, deployment_template
from manifests.charts.monitoring_template import monitoring_files, monitoring_template
from manifests.charts.operator_values import operator_values
from manifests.charts.policy_template import metrics_from, policy_template
from manifests.charts.rbac_template import rbac_template
from manifests.charts.templates import (
    HEADER,
    Fragment,
    Plain,
    condition,
    documents,
    labelled,
    template,
)
from manifests.charts.values import schema_file, values_file
from manifests.kustomize import Parts
from manifests.operator_parts import operator_parts
from quintant.operators import OPERATORS
from quintant.runtime.webhook.configuration import NAMESPACE_LABEL

ABOUT = "Quintant's operators and its console, each behind a switch."
IMAGE = '{{ include "quintant.image" $ | quote }}'
HELPERS = """\
{{- define "quintant.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "quintant.labels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}
"""
SELECTOR = Fragment(
    "namespaceSelector",
    f"""\
{{{{- with .Values.namespaces }}}}
namespaceSelector:
  matchExpressions:
  - key: {NAMESPACE_LABEL}
    operator: In
    values:
      {{{{- toYaml . | nindent <4> }}}}
{{{{- end }}}}""",
)


def operators_chart() -> dict[str, str]:
    """The files of the chart."""
    deployments = {name: _deployment(name) for name in sorted(OPERATORS)}
    scrapers = metrics_from(chart_parts("klight", IMAGE)["networkpolicy"][0])
    values = operator_values(deployments, scrapers, {CONSOLE: console_values(IMAGE)})
    found = {
        "Chart.yaml": chart_file("quintant", ABOUT),
        "README.md": readme("quintant", ABOUT, values),
        "values.yaml": values_file(values),
        "values.schema.json": schema_file(values),
        "templates/_helpers.tpl": HEADER + HELPERS,
        "templates/NOTES.txt": HEADER + _notes(),
    }
    for name, deployment in deployments.items():
        found |= monitoring_files(name)
        for file, text in _templates(name, deployment).items():
            found[f"templates/{name}/{file}.yaml"] = _switched(f"operators.{name}", text)
    for file, text in console_templates(IMAGE).items():
        found[f"templates/{CONSOLE}/{file}.yaml"] = _switched(CONSOLE, text)
    return found


def _templates(name: str, deployment: DeploymentTemplate) -> dict[str, str]:
    wide = chart_parts(name, IMAGE)
    local = chart_parts(name, IMAGE, namespaced=True)
    found = {
        "rbac": rbac_template(
            [*wide["rbac"], *wide.get("objects", ())], [*local["rbac"], *local.get("objects", ())]
        ),
        "deployment": documents(
            (
                template([labelled(deployment.deployment)], deployment.fragments),
                *(template([labelled(found)]) for found in wide["deployment"][1:]),
                condition("gt (int $operator.replicas) 1", *_documents(wide["disruption"])),
            )
        ),
        "networkpolicy": policy_template(*_policies(wide)),
        "monitoring": monitoring_template(name),
    }
    if "webhooks" in wide:
        found["webhooks"] = documents(_webhooks(wide))
    return found


def _policies(parts: Parts) -> tuple[Plain, list[Plain]]:
    own, *agents = parts["networkpolicy"]
    return own, agents


def _deployment(name: str) -> DeploymentTemplate:
    parts = chart_parts(name, IMAGE, namespaced=True)
    return deployment_template(parts["deployment"][0])


def _documents(objects: list[Plain]) -> list[str]:
    return [template([labelled(found)]) for found in objects]


def _webhooks(parts: Parts) -> list[str]:
    """Asked about the namespaces of the value only, if it has any."""
    found = [
        each | {"webhooks": [_selective(hook) for hook in each["webhooks"]]}
        for each in parts["webhooks"]
    ]
    return [template([labelled(each)], [SELECTOR]) for each in found]


def _selective(hook: Plain) -> Plain:
    local = any(rule["scope"] == "Namespaced" for rule in hook["rules"])
    return hook | ({"namespaceSelector": SELECTOR.slot} if local else {})


def _switched(path: str, text: str) -> str:
    head = f"{{{{- $operator := .Values.{path} }}}}\n"
    return HEADER + head + f"{{{{- if $operator.enabled }}}}\n{text}{{{{- end }}}}\n"


def _notes() -> str:
    """What is said after an installation."""
    lines = ["{{- $enabled := list }}"]
    for name in sorted(OPERATORS):
        lines.append(f"{{{{- if .Values.operators.{name}.enabled }}}}")
        lines.append(f'{{{{- $enabled = append $enabled "{name}" }}}}')
        lines += _definitions(name)
        lines.append("{{- end }}")
    lines += [
        f"{{{{- if .Values.{CONSOLE}.enabled }}}}",
        f'{{{{- $enabled = append $enabled "the {CONSOLE}" }}}}',
        "{{- end }}",
        "{{- if $enabled }}",
        'Installed in {{ .Release.Namespace }}: {{ join ", " $enabled }}.',
        "{{- else }}",
        "Nothing is enabled, so nothing was installed.",
        "Try: --set operators.klight.enabled=true",
        "{{- end }}",
    ]
    return "\n".join(lines) + "\n"


def _definitions(name: str) -> list[str]:
    """A warning for definitions that are not there: the operator waits for them."""
    kinds = [
        f"{found['spec']['group']}/{found['spec']['versions'][0]['name']}/{found['spec']['names']['kind']}"
        for found in operator_parts(name)["crds"]
    ]
    missing = " ".join(f'(.Capabilities.APIVersions.Has "{kind}")' for kind in kinds)
    return [
        f"{{{{- if not (and {missing}) }}}}",
        f"The definitions of {name} are missing, and it waits for them. Try:",
        "  helm upgrade --install quintant-crds deploy/charts/quintant-crds"
        f" --reset-then-reuse-values --set operators.{name}.enabled=true",
        "{{- end }}",
    ]
