"""Kubernetes' own conformance tests, unmodified, before clusters of `quintant up`.

`e2e/conformance.yaml` has every one of them: those that have to pass, and why each other one is not
run. The table that is printed is the one of docs/embedded-server.md.
"""

from __future__ import annotations

from os import environ
from pathlib import Path

import msgspec
import pytest

from foreign import ProgramError
from foreign.catalogue import E2E
from interop.conftest import Aloud
from interop.e2e import kept_list
from interop.e2e.report import Outcome
from interop.e2e.runner import Runner, programs
from interop.e2e.table import table

SECONDS = 420.0
"""For one test: the longest of those that have to pass watch for five minutes."""
CATALOGUE = "test/conformance/testdata/conformance.yaml"
KEPT = kept_list.read()


class _Entry(msgspec.Struct, frozen=True):
    codename: str


@pytest.fixture(scope="module", autouse=True)
def _table(request: pytest.FixtureRequest) -> None:
    """Print what stands in docs, once."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\n{table(KEPT)}")


@pytest.mark.parametrize("sig", [sig for sig, tests in KEPT.items() if tests.passing])
def test_every_conformance_test_of_the_list_passes(sig: str, tmp_path: Path, aloud: Aloud) -> None:
    names = KEPT[sig].passing
    with aloud():
        try:
            runner = Runner(programs(tmp_path), tmp_path, SECONDS)
        except ProgramError as error:
            pytest.skip(str(error))
        print(f"\n{sig}: {len(names)} conformance tests")
        outcomes = runner.run(names, _print)
    failed = {each.name: each.message for each in outcomes if not each.passed}
    assert not failed, f"logs are in {tmp_path}"
    assert {each.name for each in outcomes} == {*names}


def test_the_list_has_every_conformance_test_of_the_release() -> None:
    try:
        source = E2E.source(environ)
    except ProgramError as error:
        pytest.skip(str(error))
    entries = msgspec.yaml.decode((source / CATALOGUE).read_bytes(), type=list[_Entry])
    listed = [name for tests in KEPT.values() for name in tests.names]
    assert sorted(listed) == sorted(entry.codename for entry in entries)


def _print(outcome: Outcome) -> None:
    print(f"  {outcome.state} after {outcome.seconds:.0f} s: {outcome.name}", flush=True)
