"""The generated files: where they are, and what belongs into them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from envtest import RealCluster
from quintant.version import KUBERNETES
from tables.golang import reflect
from tables.join import join
from tables.openapi import schemas

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "src/quintant/cluster/apiserver/go_types/kubernetes.jsonl"
SAMPLES = ROOT / "tests/unit/cluster/samples.jsonl"


def generate() -> dict[Path, bytes]:
    """Every generated file and its content; needs Go, and starts a real cluster."""
    with RealCluster() as cluster:
        return content(cluster)


def content(cluster: RealCluster) -> dict[Path, bytes]:
    """The same from a cluster that runs already."""
    table = join(reflect("types"), schemas(cluster), KUBERNETES)
    samples = (msgspec.json.encode(sample) for sample in reflect("samples"))
    return {TABLE: _lines(table), SAMPLES: _lines(samples)}


def _lines(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)
