"""NetworkPolicies as a template: what differs between clusters is a value."""

from __future__ import annotations

from manifests.charts.templates import (
    Fragment,
    Plain,
    condition,
    documents,
    labelled,
    template,
)
from quintant.operators.network_policy import API_SERVER_PORTS

_POLICY = ".Values.networkPolicy"
METRICS = Fragment(
    "metrics",
    f"""\
- ports:
  - port: metrics
    protocol: TCP
  {{{{- with {_POLICY}.metricsFrom }}}}
  from:
    {{{{- toYaml . | nindent <4> }}}}
  {{{{- end }}}}""",
)
API_SERVER = Fragment(
    "apiserver",
    f"""\
- ports:
  {{{{- range {_POLICY}.apiServerPorts }}}}
  - port: {{{{ . }}}}
    protocol: TCP
  {{{{- end }}}}""",
)
MORE = Fragment(
    "more",
    f"""\
{{{{- with {_POLICY}.extraEgress }}}}
{{{{- toYaml . | nindent <0> }}}}
{{{{- end }}}}""",
)
FRAGMENTS = (METRICS, API_SERVER, MORE)


def policy_template(own: Plain, agents: list[Plain]) -> str:
    """That of the operator, and those of its agents."""
    found = [_slotted(own), *agents]
    texts = (template([labelled(each)], FRAGMENTS) for each in found)
    return documents([condition(f"{_POLICY}.enabled", *texts)])


def metrics_from(own: Plain) -> list[Plain]:
    """Who may scrape, unless a value says otherwise."""
    peers: list[Plain] = next(filter(_of_metrics, own["spec"]["ingress"]))["from"]
    return peers


def _slotted(own: Plain) -> Plain:
    """What values decide is a slot; the rest of the rules stay as they are."""
    spec = own["spec"]
    ingress = [METRICS.slot if _of_metrics(rule) else rule for rule in spec["ingress"]]
    egress = [API_SERVER.slot if _of_api_server(rule) else rule for rule in spec["egress"]]
    return own | {"spec": spec | {"ingress": ingress, "egress": [*egress, MORE.slot]}}


def _of_metrics(rule: Plain) -> bool:
    return [port["port"] for port in rule["ports"]] == ["metrics"]


def _of_api_server(rule: Plain) -> bool:
    return [port.get("port") for port in rule["ports"]] == list(API_SERVER_PORTS)
