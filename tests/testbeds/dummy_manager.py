"""A real Infrastructure Manager with its Dummy cloud, as a fixture."""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import monotonic

import pytest

from foreign.catalogue import IM
from foreign.errors import announce
from infrastructure_manager import InfrastructureManager


@pytest.fixture(scope="package")
def dummy_manager(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[InfrastructureManager]:
    """One Infrastructure Manager for all modules of a folder.

    Users are what keeps tests apart: each has its own. Faults are everybody's, so a test takes back
    those that it asked for; and it looks only at machines of infrastructures that are its own.
    """
    capture = request.config.pluginmanager.getplugin("capturemanager")
    folder = tmp_path_factory.mktemp("infrastructure-manager")
    # It is installed where it is missing, which takes a minute and says how far it is.
    with capture.global_and_fixture_disabled():
        IM.provide(os.environ)
    began = monotonic()
    with InfrastructureManager(folder) as manager:
        with capture.global_and_fixture_disabled():
            announce(f"Infrastructure Manager is ready after {monotonic() - began:.1f} s")
        yield manager
