"""The values of the chart of operators."""

from __future__ import annotations

from manifests.charts import schemas
from manifests.charts.deployment_template import DeploymentTemplate
from manifests.charts.templates import Plain
from manifests.charts.values import Section, Value
from quintant.cli.operators.manifests import OPERATOR_REPLICAS
from quintant.operators import OPERATORS
from quintant.operators.network_policy import API_SERVER_PORTS

REPOSITORY = "quintant"


def operator_values(
    deployments: dict[str, DeploymentTemplate], scrapers: list[Plain], others: dict[str, Section]
) -> Section:
    """What a user may say, also of `others`; what the objects have is the default."""
    first = next(iter(deployments.values()))
    return Section(
        "The values of the chart.",
        {
            "image": _image(),
            "imagePullSecrets": Value(
                "Secrets of the release's namespace with which the image is pulled.",
                [],
                schemas.REFERENCES,
            ),
            "namespaces": Value(
                "The only namespaces that operators look after, with Roles there; empty is all "
                "namespaces, with ClusterRoles. They must exist.",
                [],
                schemas.NAMESPACES,
            ),
            **_placement(first),
            "networkPolicy": _network_policy(scrapers),
            "monitoring": _monitoring(),
            "operators": Section(
                "By operator. None is installed unless it is enabled.",
                {name: _operator(name, deployments[name]) for name in sorted(deployments)},
            ),
            **others,
        },
    )


def title(name: str) -> str:
    """What an operator is for, as a sentence."""
    words = OPERATORS[name].title
    return f"{words[0].upper()}{words[1:]}."


def _image() -> Section:
    return Section(
        "The image of every operator, made by deploy/Containerfile; also of the pods they make.",
        {
            "repository": Value(
                "Registry and name, such as registry.example.com/quintant.",
                REPOSITORY,
                schemas.TEXT | {"minLength": 1},
            ),
            "tag": Value("Empty is the version of the chart.", "", schemas.TEXT),
            "digest": Value(
                "Such as sha256:…, instead of a tag.", "", schemas.TEXT | {"pattern": "^$|^sha256:"}
            ),
            "pullPolicy": Value(
                "Empty is Kubernetes' own.",
                "",
                {"enum": ["", "Always", "IfNotPresent", "Never"]},
            ),
        },
    )


def _placement(found: DeploymentTemplate) -> dict[str, Value | Section]:
    return {
        "podAnnotations": Value("Of the pods of operators.", {}, schemas.WORDS),
        "priorityClassName": Value("Of the pods of operators.", "", schemas.TEXT),
        "nodeSelector": Value("Labels of the nodes that may run operators.", {}, schemas.WORDS),
        "tolerations": Value(
            "Taints that operators bear. By default they leave a node that is away after 30 s.",
            found.tolerations,
            schemas.TOLERATIONS,
        ),
        "topologySpreadConstraints": Value(
            "How replicas are spread, if there are several; the selector is added.",
            found.spread,
            schemas.SPREAD,
        ),
    }


def _network_policy(scrapers: list[Plain]) -> Section:
    return Section(
        "Who reaches operators and agents, and what they reach.",
        {
            "enabled": Value("Whether there are NetworkPolicies.", True, schemas.SWITCH),
            "apiServerPorts": Value(
                "Where the API server is reached: of its Service, and of the servers behind it.",
                list(API_SERVER_PORTS),
                schemas.listed(schemas.PORT, minItems=1),
            ),
            "metricsFrom": Value(
                "Who may scrape metrics; empty is everybody.", scrapers, schemas.PEERS
            ),
            "extraEgress": Value(
                "Further rules of egress, such as for traces.", [], schemas.EGRESS
            ),
        },
    )


def _monitoring() -> Section:
    found = {
        "podMonitor": _switch("PodMonitors, for clusters with the Prometheus operator."),
        "alerts": _switch("PrometheusRules, for clusters with the Prometheus operator."),
        "dashboards": _switch("ConfigMaps that the sidecar of Grafana loads."),
    }
    interval = Value("Between two scrapes; empty is Prometheus' own.", "", schemas.TEXT)
    monitor = found["podMonitor"]
    found["podMonitor"] = Section(monitor.about, {**monitor.values, "interval": interval})
    return Section("What watches over operators.", found)


def _switch(about: str) -> Section:
    values = {
        "enabled": Value("Whether each operator has one.", False, schemas.SWITCH),
        "labels": Value("Further labels, by which they are selected.", {}, schemas.WORDS),
    }
    return Section(about, values)


def _operator(name: str, found: DeploymentTemplate) -> Section:
    return Section(
        title(name),
        {
            "enabled": Value(f"Whether {name} is installed.", False, schemas.SWITCH),
            "replicas": Value(
                "Of which one works, and the others wait for its lease.",
                OPERATOR_REPLICAS,
                schemas.REPLICAS,
            ),
            "resources": Value("Of its container.", found.resources, schemas.RESOURCES),
            "env": Value(f"Further variables: the options of docs/{name}.md.", [], schemas.ENV),
        },
    )
