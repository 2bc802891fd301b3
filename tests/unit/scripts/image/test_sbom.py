from __future__ import annotations

from pathlib import Path

import pytest

from image.sbom import debian_components, document, python_components

STATUS = """Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9+deb12u13

Package: removed
Status: deinstall ok config-files
Architecture: amd64
Version: 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, version, more in (
        ("quintant", "0.1.0", "License-Expression: Apache-2.0\n"),
        ("Typing_Extensions", "4.16.0", "License: PSF\n"),
        ("plain", "1", ""),
    ):
        at = tmp_path / f"{name}-{version}.dist-info"
        at.mkdir()
        text = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{more}"
        (at / "METADATA").write_text(text)
    return tmp_path


def test_every_distribution_and_every_package_is_listed(folder: Path) -> None:
    found = [*python_components([str(folder)]), *debian_components(STATUS)]
    made = document(found)
    assert made["metadata"]["component"]["purl"] == "pkg:pypi/quintant@0.1.0"
    names = [each["purl"].partition("@")[0] for each in made["components"]]
    assert names == [
        "pkg:deb/debian/libc6", "pkg:generic/python", "pkg:pypi/plain",
        "pkg:pypi/typing-extensions",
    ]  # fmt: skip
    assert made["components"][0]["purl"].endswith("@2.36-9%2Bdeb12u13?arch=amd64")


def test_licenses_are_told_as_they_were_given(folder: Path) -> None:
    found = {each["name"]: each.get("licenses") for each in python_components([str(folder)])}
    assert found["quintant"] == [{"expression": "Apache-2.0"}]
    assert found["typing-extensions"] == [{"license": {"name": "PSF"}}]
    assert found["plain"] is None


def test_the_same_content_gives_the_same_document(folder: Path) -> None:
    assert document(list(python_components([str(folder)]))) == document(
        list(python_components([str(folder)]))[::-1]
    )
