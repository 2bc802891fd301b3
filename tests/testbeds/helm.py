"""Helm as a program: what it makes of a chart, and what it does with one in a cluster."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from testbeds.kustomize import DEPLOY

Plain = dict[str, Any]
Key = tuple[str, str, str]
"""Kind, namespace and name."""
OPERATORS_CHART, CRDS_CHART = DEPLOY / "charts/quintant", DEPLOY / "charts/quintant-crds"
RELEASE_WORDS = (
    "app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "helm.sh/chart",
    "helm.sh/resource-policy",
)  # fmt: skip
"""Labels and annotations that say which release an object is of."""


@dataclass(frozen=True)
class Helm:
    """Helm, with files of its own."""

    program: Path
    home: Path
    kubeconfig: Path | None = None

    @property
    def environ(self) -> dict[str, str]:
        """The variables of every run."""
        names = ("CACHE", "CONFIG", "DATA")
        homes = {f"HELM_{name}_HOME": str(self.home / name.lower()) for name in names}
        cluster = {"KUBECONFIG": str(self.kubeconfig)} if self.kubeconfig else {}
        return {**os.environ, **homes, **cluster}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        line = (str(self.program), *words)
        return subprocess.run(line, env=self.environ, capture_output=True, text=True, check=False)

    def __call__(self, *words: str) -> str:
        """What a command prints; it has to succeed."""
        done = self.run(*words)
        assert done.returncode == 0, f"helm {' '.join(words)}: {done.stderr}"
        return done.stdout

    def render(self, chart: Path, *sets: str, namespace: str = "default") -> dict[Key, Plain]:
        """The objects of a release with these values."""
        text = self("template", "release", str(chart), "-n", namespace, *_each("--set", sets))
        return by_key(yaml.load_all(text, yaml.CSafeLoader))

    def refusal(self, chart: Path, *sets: str) -> str:
        """What is said of values that are not taken."""
        done = self.run("template", "release", str(chart), *_each("--set-json", sets))
        assert done.returncode != 0, done.stdout
        return done.stderr


def by_key(objects: Iterable[Plain | None]) -> dict[Key, Plain]:
    """Objects without their release; none may be there twice."""
    found: dict[Key, Plain] = {}
    for each in filter(None, objects):
        meta = each["metadata"]
        key = each["kind"], meta.get("namespace", ""), meta["name"]
        assert key not in found, key
        found[key] = _without_release(each)
    return found


def _without_release(found: Plain) -> Plain:
    meta = dict(found["metadata"])
    for part in ("labels", "annotations"):
        words = {key: word for key, word in meta.pop(part, {}).items() if key not in RELEASE_WORDS}
        meta |= {part: words} if words else {}
    return found | {"metadata": meta}


def _each(option: str, words: Iterable[str]) -> Sequence[str]:
    return [part for word in words for part in (option, word)]
