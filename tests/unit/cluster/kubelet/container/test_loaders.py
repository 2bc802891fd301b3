"""Variables that make a program load code, and who may set them."""

from __future__ import annotations

import pytest

from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.cluster.kubelet.container.loaders import dropped_variables, kept_variables

GIVEN = {"LD_PRELOAD": "x", "PYTHONPATH": "y", "PATH": "z", "MODE": "m", "QUINTANT_ISOLATED": ""}


@pytest.mark.parametrize(
    ("program", "dropped"),
    [
        (ImageProgram(image="a"), ("LD_PRELOAD", "PYTHONPATH")),
        (ImageProgram(image="a", allow_env=("PYTHON*",)), ("LD_PRELOAD",)),
        (
            ImageProgram(image="a", isolated=True),
            ("LD_PRELOAD", "PATH", "PYTHONPATH", "QUINTANT_ISOLATED"),
        ),
    ],
)
def test_what_is_dropped_depends_on_the_entry(
    program: ImageProgram, dropped: tuple[str, ...]
) -> None:
    assert dropped_variables(GIVEN, program) == dropped
    assert not kept_variables(GIVEN, program).keys() & set(dropped) - {"QUINTANT_ISOLATED"}


def test_an_isolated_program_is_marked_whatever_the_pod_says() -> None:
    kept = kept_variables(GIVEN, ImageProgram(image="a", isolated=True))
    assert kept == {"MODE": "m", "QUINTANT_ISOLATED": "1"}
