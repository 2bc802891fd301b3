"""What a chart says of itself: Chart.yaml and the README with every value."""

from __future__ import annotations

from manifests.charts.values import Section, values_table
from manifests.files import HEADER, NOTE
from quintant.core.yaml.dump import to_yaml
from quintant.version import QUINTANT

PAGE = "docs/installing.md"


def chart_file(name: str, about: str) -> str:
    """`Chart.yaml`: chart and program have one version."""
    found = {
        "apiVersion": "v2",
        "name": name,
        "description": about,
        "type": "application",
        "version": QUINTANT,
        "appVersion": QUINTANT,
    }
    return HEADER + to_yaml([found])


def readme(name: str, about: str, values: Section) -> str:
    """The page of a chart."""
    return "\n".join(
        (
            f"<!-- {NOTE} -->",
            f"# {name}\n",
            f"{about} How it is installed, upgraded and uninstalled is in `{PAGE}`.\n",
            "Another key, or a value of another type, is refused and named.\n",
            values_table(values),
        )
    )
