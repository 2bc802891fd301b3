from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from image.archive import Entry, Image, Layer
from image.checks import LABELS, complaints

SITE = "/opt/quintant/lib/python3.11/site-packages"
FILE, FOLDER = Entry(0o644, 0, 0, "file"), Entry(0o755, 0, 0, "folder")
GOOD = {
    "/tmp": Entry(0o1777, 0, 0, "folder"),
    f"{SITE}/quintant": FOLDER,
    f"{SITE}/quintant/extras.py": FILE,
    f"{SITE}/quintant/__pycache__/extras.cpython-311.pyc": FILE,
    f"{SITE}/quintant-0.1.0.dist-info": FOLDER,
    f"{SITE}/PyYAML-6.0.3.dist-info": FOLDER,
    "/usr/bin/python3": Entry(0o755, 0, 0, "file"),
    "/bin": Entry(0o777, 0, 0, "link"),
}
CONFIG: dict[str, Any] = {
    "Labels": dict.fromkeys(LABELS, "x"), "User": "65532:65532", "Entrypoint": ["quintant"],
}  # fmt: skip
SBOM = {
    "metadata": {"component": {"name": "quintant", "version": "0.1.0"}},
    "components": [{"name": "pyyaml", "version": "6.0.3"}],
}


def image(entries: dict[str, Entry], size: int = 1000, **config: Any) -> Image:
    return Image({"config": CONFIG | config}, (Layer("sha256:1", size, entries),))


def test_an_image_as_it_has_to_be_has_no_complaints() -> None:
    assert complaints(image(GOOD), SBOM) == []


@pytest.mark.parametrize(
    ("path", "entry", "complaint"),
    [
        ("/usr/bin/x86_64-linux-gnu-gcc-12", FILE, "compiles or installs"),
        ("/usr/bin/as", FILE, "compiles or installs"),
        ("/usr/bin/pip3", FILE, "compiles or installs"),
        ("/usr/bin/apt-get", FILE, "compiles or installs"),
        (f"{SITE}/pip", FOLDER, "is there for installing"),
        ("/usr/lib/python3.11/ensurepip", FOLDER, "is there for installing"),
        ("/etc/hosts", Entry(0o666, 0, 0, "file"), "can be written by 65532:65532"),
        ("/data", Entry(0o755, 65532, 0, "folder"), "can be written by 65532:65532"),
        ("/data", Entry(0o775, 0, 0, "folder"), "can be written by 1000680000:0"),
        ("/usr/bin/su", Entry(0o4755, 0, 0, "file"), "runs as another user"),
        (f"{SITE}/quintant/doctor.py", FILE, "is not compiled"),
        ("/run/secrets/pip_conf", FILE, "of the machine that built it"),
        ("/etc/pip.conf", FILE, "of the machine that built it"),
        (f"{SITE}/click-8.5.1.dist-info", FOLDER, "the SBOM lacks click 8.5.1"),
    ],
)
def test_what_must_not_be_there_is_found(path: str, entry: Entry, complaint: str) -> None:
    found = complaints(image({**GOOD, path: entry}), SBOM)
    assert any(complaint in each for each in found)
    assert all(path in each or complaint in each for each in found)


def test_size_user_and_labels_are_held() -> None:
    found = complaints(image(GOOD, 200_000_001, User="0:0", Labels={}), SBOM)
    assert "it has 200 MB, more than 200" in found
    assert "its user is '0:0', and not two numbers above zero" in found
    assert "the label org.opencontainers.image.version is missing" in found


def test_what_a_layer_takes_away_is_not_there() -> None:
    whole = image({**GOOD, "/usr/bin/gcc": FILE})
    gone = Layer("sha256:2", 0, {"/usr/bin/.wh.gcc": FILE})
    assert complaints(replace(whole, layers=(*whole.layers, gone)), SBOM) == []
