"""Promises of benchmarks.sample_pods."""

from __future__ import annotations

from benchmarks.pod_view import PodView
from benchmarks.sample_pods import pod

from quintant.api.core import Pod
from quintant.core import codec


def test_pod_is_about_five_kilobytes_and_one_of_its_own() -> None:
    assert 4_500 < len(pod(7)) < 5_500
    assert pod(7) == pod(7) != pod(8)


def test_pod_is_one_to_quintant_whole_and_in_a_view() -> None:
    whole, view = codec.decode(Pod, pod(7)), codec.decode(PodView, pod(7))
    assert whole.key == view.key
    assert whole.spec is not None
    assert len(whole.spec.containers) == 2
    assert view.status.phase == "Running"
