from __future__ import annotations

from pathlib import Path

import pytest

from image.trim_root import note_installed, trim

STATUS = """Package: apt
Status: install ok installed
Version: 2.6

Package: libssl3
Status: install ok installed
Version: 3.0
Description: shared
 lines

"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A base of Debian, as far as it matters."""
    made = tmp_path / "root"
    for name in ("usr/bin/apt", "usr/bin/su", "usr/bin/pip3", "usr/lib/apt/methods/http",
                 "usr/lib/libssl.so.3", "usr/share/doc/apt/copyright", "var/tmp/left",
                 "usr/lib/python3.11/ensurepip/__init__.py",
                 "usr/lib/python3.11/site-packages/pip/__init__.py"):  # fmt: skip
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).touch(mode=0o755)
    (made / "bin").symlink_to("usr/bin")
    (made / "usr/lib/python3.11/json.py").write_text("VALUE = 1\n")
    (made / "usr/bin/su").chmod(0o4755)
    (made / "var/tmp").chmod(0o1777)
    info = made / "var/lib/dpkg/info"
    info.mkdir(parents=True)
    (info.parent / "status").write_text(STATUS)
    apt = ("/.", "/bin", "/usr", "/usr/bin/apt", "/usr/lib", "/usr/lib/apt", "/usr/lib/apt/methods",
           "/usr/lib/apt/methods/http")  # fmt: skip
    (info / "apt.list").write_text("\n".join(apt))
    (info / "libssl3:amd64.list").write_text("/.\n/usr\n/usr/lib\n/usr/lib/libssl.so.3\n")
    return made


def test_a_package_goes_whole_and_the_table_says_so(root: Path) -> None:
    trim(root)
    assert not (root / "usr/bin/apt").exists()
    assert not (root / "usr/lib/apt").exists()
    assert not (root / "var/lib/dpkg/info/apt.list").exists()
    assert (root / "usr/lib/libssl.so.3").exists()
    assert (root / "bin").is_symlink()
    note_installed(root, root.parent / "installed")
    listed = (root.parent / "installed/status").read_text()
    assert listed == STATUS.partition("\n\n")[2]


def test_pip_goes_and_pythons_library_is_compiled(root: Path) -> None:
    trim(root)
    library = root / "usr/lib/python3.11"
    assert not (library / "ensurepip").exists()
    assert not (library / "site-packages/pip").exists()
    assert not (root / "usr/bin/pip3").exists()
    assert [each.name.split(".")[0] for each in (library / "__pycache__").iterdir()] == ["json"]


def test_nothing_is_left_to_write_to_or_to_become_root_by(root: Path) -> None:
    trim(root)
    assert (root / "usr/bin/su").stat().st_mode & 0o7777 == 0o755
    assert (root / "var/tmp").stat().st_mode & 0o022 == 0
    assert (root / "tmp").stat().st_mode & 0o7777 == 0o1777
    assert list((root / "var/tmp").iterdir()) == []


def test_a_base_that_is_not_debians_has_an_empty_table(root: Path) -> None:
    (root / "var/lib/dpkg/status").unlink()
    trim(root)
    note_installed(root, root.parent / "installed")
    assert (root.parent / "installed/status").read_text() == ""
    assert (root / "usr/bin/apt").exists()
