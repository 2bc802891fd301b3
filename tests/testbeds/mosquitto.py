"""Eclipse Mosquitto, as the machine has it: Debian's package, which `.ci/run` installs as root."""

from __future__ import annotations

import os
import shutil

import pytest

REQUIRED = "QUINTANT_REQUIRED"
"""Set where whatever is absent is a failure: in `.ci/run`."""
_FOLDERS = f"{os.pathsep}/usr/sbin{os.pathsep}/usr/local/sbin"


def find_mosquitto() -> str:
    """The program; where there is none, the test is skipped, or fails where it is required."""
    found = shutil.which("mosquitto", path=os.environ.get("PATH", os.defpath) + _FOLDERS)
    if found is not None:
        return found
    reason = "there is no mosquitto on this machine: apt-get install mosquitto"
    if os.environ.get(REQUIRED):
        pytest.fail(reason)
    pytest.skip(reason)
