"""What our definitions break for users of the last release is known, and nothing else breaks."""

from __future__ import annotations

import pytest

from manifests.released import ACCEPTED, breaking_changes, check_released


def test_definitions_break_nothing_of_the_last_release_but_what_is_written_down() -> None:
    assert check_released() == 0
    assert breaking_changes() == ACCEPTED


def test_a_change_that_nobody_meant_ends_with_its_field(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert check_released({}) == 1
    wrong = capsys.readouterr().err
    assert "tunnelclasses.portal.gosuda.org: v1alpha1.spec.tolerations maxItems breaks" in wrong
    assert "because: " in wrong
    assert "try: " in wrong


def test_an_exception_that_is_for_nothing_ends_too(capsys: pytest.CaptureFixture[str]) -> None:
    meant = {**ACCEPTED, "boxes.demo.dev": frozenset({"v1.spec.size enum"})}
    assert check_released(meant) == 1
    assert "v1.spec.size enum does not break any more" in capsys.readouterr().err
