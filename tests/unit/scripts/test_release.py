"""A release has one version everywhere, and its workflows run what was read."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.version import QUINTANT
from release.versions import entries, inconsistencies, missing_archives, unreleasable
from release.workflows import unpinned

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yaml"))
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def tree(folder: Path, *, chart: str, image: str, changelog: str) -> Path:
    """A repository with what names a version."""
    made = folder / "deploy/charts/quintant"
    made.mkdir(parents=True)
    (made / "Chart.yaml").write_text(f'appVersion: "{chart}"\nversion: "{chart}"\n')
    (folder / "deploy/deployment.yaml").write_text(f"image: quintant:{image}\n")
    (folder / "CHANGELOG.md").write_text(changelog)
    return folder


def test_everything_here_has_the_version_of_the_package() -> None:
    assert list(inconsistencies(ROOT, QUINTANT)) == []


def test_another_version_of_chart_image_or_changelog_is_named(tmp_path: Path) -> None:
    root = tree(tmp_path, chart="0.1.0", image="0.1.1", changelog="## 0.1.0 (2026-01-01)\n\nx\n")
    assert list(inconsistencies(root, "0.2.0")) == [
        "deploy/charts/quintant/Chart.yaml: appVersion is 0.1.0, not 0.2.0",
        "deploy/charts/quintant/Chart.yaml: version is 0.1.0, not 0.2.0",
        "deploy/deployment.yaml: image is 0.1.1, not 0.2.0",
        "CHANGELOG.md: no section `## 0.2.0 (YYYY-MM-DD)` with text",
    ]


def test_a_tag_is_published_only_with_its_version_and_nothing_unreleased(tmp_path: Path) -> None:
    text = "## Unreleased\n\n- x\n\n## 0.2.0 (2026-01-01)\n\ny\n"
    root = tree(tmp_path, chart="0.2.0", image="0.2.0", changelog=text)
    assert len(list(unreleasable(root, "0.2.0", "v0.3.0"))) == 2
    (root / "CHANGELOG.md").write_text(text.replace("- x\n", ""))
    assert list(unreleasable(root, "0.2.0", "v0.2.0")) == []
    assert entries(text)["0.2.0"].text == "y"


def test_archives_that_were_not_built_are_named(tmp_path: Path) -> None:
    (tmp_path / "quintant-0.2.0.tar.gz").touch()
    found = list(missing_archives(tmp_path, "0.2.0"))
    assert found == [f"{tmp_path.name}/quintant-0.2.0-py3-none-any.whl was not built"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_commit_with_its_version(path: Path) -> None:
    assert list(unpinned(path.read_text())) == []


def test_a_tag_or_a_commit_without_its_version_is_not_pinned() -> None:
    text = f"- uses: a/b@v4\n- uses: a/b@{COMMIT}\n- uses: a/b@{COMMIT} # v1.2.3\n"
    assert list(unpinned(text)) == ["a/b@v4", f"a/b@{COMMIT}"]
