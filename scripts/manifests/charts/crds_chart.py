"""The chart of definitions: they stay when a release goes, since objects go with definitions."""

from __future__ import annotations

from manifests.charts.chart_page import chart_file, readme
from manifests.charts.operator_values import title
from manifests.charts.schemas import SWITCH
from manifests.charts.templates import HEADER, Plain, condition, template
from manifests.charts.values import Section, Value, schema_file, values_file
from manifests.kustomize import split
from manifests.operator_parts import operator_parts
from quintant.operators import OPERATORS

KEEP = {"helm.sh/resource-policy": "keep"}
ABOUT = "Definitions of the kinds of Quintant's operators, and the namespaces of their objects."


def crds_chart() -> dict[str, str]:
    """The files of the chart."""
    values = crds_values()
    return {
        "Chart.yaml": chart_file("quintant-crds", ABOUT),
        "README.md": readme("quintant-crds", ABOUT, values),
        "values.yaml": values_file(values),
        "values.schema.json": schema_file(values),
        **{f"templates/{name}.yaml": _template(name) for name in sorted(OPERATORS)},
    }


def crds_values() -> Section:
    """What a user may say: whose definitions."""
    switches = {
        name: Section(
            title(name),
            {"enabled": Value(f"Whether the definitions of {name} are there.", False, SWITCH)},
        )
        for name in sorted(OPERATORS)
    }
    return Section("The values of the chart.", {"operators": Section("By operator.", switches)})


def _template(name: str) -> str:
    kept, _ = split(operator_parts(name))
    objects = [_kept(found) for part in kept.values() for found in part]
    text = template(objects)
    if "{{" in text:
        raise ValueError(f"a definition of {name} has braces, which Helm takes for its own")
    return HEADER + condition(f".Values.operators.{name}.enabled", text)


def _kept(found: Plain) -> Plain:
    return found | {"metadata": found["metadata"] | {"annotations": KEEP}}
