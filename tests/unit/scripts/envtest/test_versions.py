"""Every supported Kubernetes is tested, each from its own cache; what cannot be had is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from envtest.__main__ import main
from envtest.binaries import cached, locate
from envtest.build import recipes
from envtest.every_version import VersionResult, environment, run_versions
from envtest.versions import SUPPORTED, chosen, release
from foreign.errors import ProgramError
from quintant.version import KUBERNETES

ROOT = Path(__file__).parents[4]
NOTHING_RAN = 5


def built(environ: Mapping[str, str]) -> None:
    """Every version is there."""


def outcomes(results: tuple[VersionResult, ...]) -> dict[str, str]:
    return {each.version: each.outcome for each in results}


def test_the_version_that_we_speak_is_the_newest_that_is_supported() -> None:
    assert list(SUPPORTED.values())[-1] == KUBERNETES
    for minor, patch in SUPPORTED.items():
        assert re.fullmatch(rf"v{re.escape(minor)}\.\d+", patch)


def test_the_environment_chooses_a_version_and_each_has_a_folder_of_its_own() -> None:
    assert chosen({}) == chosen({"QUINTANT_KUBERNETES": ""}) == KUBERNETES
    assert chosen({"QUINTANT_KUBERNETES": "1.33"}) == SUPPORTED["1.33"]
    assert chosen({"QUINTANT_KUBERNETES": "v1.30.14"}) == "v1.30.14"
    folders = {
        cached({"QUINTANT_CACHE": "/q", "QUINTANT_KUBERNETES": each})
        for each in ("", "1.33", "v1.30.14")
    }
    assert len(folders) == 3


def test_what_is_built_is_of_the_version() -> None:
    versions = {name: recipe.version for name, recipe in recipes("v1.33.13").items()}
    assert versions.pop("etcd").startswith("v3.")
    assert set(versions.values()) == {"v1.33.13"}


@pytest.mark.parametrize("version", ["1.12", "v1.33", "newest", "v1.33.1; rm"])
def test_a_version_that_nobody_knows_is_refused(version: str) -> None:
    with pytest.raises(ProgramError, match="neither a supported minor version"):
        release(version)


def test_a_cluster_of_the_users_is_not_taken_for_the_version(tmp_path: Path) -> None:
    given = {"KUBEBUILDER_ASSETS": "/assets", "QUINTANT_DISPOSABLE": "1", "KUBECONFIG": "/config"}
    environ = environment({"QUINTANT_CACHE": str(tmp_path), **given}, "1.33")
    assert chosen(environ) == SUPPORTED["1.33"]
    assert locate(environ) is None


def test_a_version_that_cannot_be_had_is_named_and_the_others_are_tested() -> None:
    def build(environ: Mapping[str, str]) -> None:
        if chosen(environ) == SUPPORTED["1.34"]:
            raise ProgramError("cannot build it", why="there is no such module", hint="wait")

    results = run_versions(SUPPORTED, {}, build=build, run=lambda version, environ: 0)
    assert outcomes(results) == {
        "1.33": "passed",
        "1.34": "could not be built, and was not tested",
        "1.35": "passed",
        "1.36": "passed",
    }
    assert not all(each.good for each in results)


def test_a_selection_of_nothing_is_no_success() -> None:
    results = run_versions(["1.33"], {}, build=built, run=lambda version, environ: NOTHING_RAN)
    assert [each.good for each in results] == [False]
    assert "nothing was run" in str(results[0])


def test_each_version_is_run_with_its_own_environment() -> None:
    ran: dict[str, str] = {}

    def run(version: str, environ: Mapping[str, str]) -> int:
        ran[version] = chosen(environ)
        return 1

    results = run_versions(SUPPORTED, {"HOME": "/h"}, build=built, run=run)
    assert ran == SUPPORTED
    assert set(outcomes(results).values()) == {"failed"}


def test_a_version_that_is_not_supported_is_no_choice(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["versions", "--only", "1.12"])
    assert "choose from" in capsys.readouterr().err


def test_every_night_each_version_is_tested() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/nightly.yaml").read_text())
    job = workflow["jobs"]["versions"]
    assert job["strategy"]["matrix"]["version"] == list(SUPPORTED)
    assert job["strategy"]["fail-fast"] is False
    assert "make test-versions" in [step.get("run") for step in job["steps"]]


def test_the_page_about_releases_names_every_version() -> None:
    page = (ROOT / "docs/releasing.md").read_text()
    rows = re.findall(r"^\| (1\.\d+) \| `(v[\d.]+)` \|", page, re.MULTILINE)
    assert dict(rows) == SUPPORTED
