"""cert-manager's definitions as its makefile writes them: the chart's expressions filled in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

PUBLISHED = "deploy/crds"
_FILLED = {
    '{{ template "cert-manager.name" . }}': "cert-manager",
    "{{ .Release.Name }}": "cert-manager",
    '# Generated labels {{- include "labels" . | nindent 4 }}': "",
}
"""As of a release of that name."""


def definitions(source: Path) -> Iterator[tuple[str, str]]:
    """The name and the text of each definition of a module."""
    for path in sorted((source / PUBLISHED).glob("crd-*.yaml")):
        text = path.read_text()
        for expression, value in _FILLED.items():
            text = text.replace(expression, value)
        if "{{" in text:
            raise ValueError(f"expected no other expression of a chart in {path.name}")
        yield path.stem, text
