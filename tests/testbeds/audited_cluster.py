"""A real control plane whose audit log is a witness."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from envtest import RealCluster


@contextmanager
def audited_cluster(folder: Path, policy: str) -> Iterator[tuple[RealCluster, Path]]:
    """A control plane for as long as the context lasts, and the file of its audit log."""
    file, log = folder / "policy.yaml", folder / "audit.log"
    file.write_text(policy)
    flags = (f"--audit-policy-file={file}", f"--audit-log-path={log}")
    with RealCluster(apiserver=flags) as cluster:
        if not cluster.store:
            pytest.skip("the audit log of a given cluster is not ours to read")
        yield cluster, log
