"""Promises of benchmarks.sizes."""

from __future__ import annotations

from benchmarks.sizes import Sizes


def test_quick_run_does_a_tenth_and_is_otherwise_the_same() -> None:
    full, quick = Sizes(), Sizes().quick()
    assert quick.resources == full.resources // 10
    assert quick.objects == full.objects // 10
    assert quick.workers == full.workers
