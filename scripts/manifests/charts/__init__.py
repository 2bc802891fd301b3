"""Helm charts, made from the objects that the kustomizations have.

Definitions have a chart of their own, since Helm never upgrades those that are part of another.
What a value changes is a line of a template (`templates`); everything else is the object as
`kubectl kustomize` prints it. Values, their schema and the page that explains them are one table
(`values`).
"""

from __future__ import annotations

from pathlib import Path

from manifests.charts.crds_chart import crds_chart
from manifests.charts.operators_chart import operators_chart
from manifests.files import CHARTS

CHART_FOLDERS = {"quintant-crds": crds_chart, "quintant": operators_chart}


def chart_files() -> dict[Path, str]:
    """Every file of every chart, and its text."""
    return {
        CHARTS / folder / name: text
        for folder, chart in CHART_FOLDERS.items()
        for name, text in chart().items()
    }
