"""A step of the image's build: the base without what installs, logs in, or is read by people.

    python trim_root.py ROOT INSTALLED

ROOT is a copy of the base, which becomes the lowest layer of the image; into the folder INSTALLED
goes a copy of dpkg's table, for the SBOM. Debian's packages go
whole, their entries in that table included, so that a scanner and the SBOM see what is there; of
another base only pip and what came with it goes. Nothing is left that a process could write to or
become another user by, and Python's own library is compiled, since nobody may write the bytecode
later.
"""

from __future__ import annotations

import compileall
import py_compile
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

INSTALLERS = {
    "apt", "debconf", "debian-archive-keyring", "dpkg", "gpgv", "libapt-pkg6.0", "libapt-pkg7.0",
    "perl-base", "python3-distutils", "python3-lib2to3", "python3-pip", "python3-pip-whl",
    "python3-setuptools", "python3-setuptools-whl", "python3-venv", "python3-wheel",
}  # fmt: skip
"""What installs software; perl-base is there for the scripts of packages."""
OF_MACHINES = {
    "adduser", "bsdutils", "e2fsprogs", "login", "login.defs", "logsave", "mount",
    "passwd", "sqv", "sysvinit-utils", "tar", "util-linux", "util-linux-extra",
}  # fmt: skip
"""What a machine needs for disks and users. openssl stays: by its links, libssl finds the CAs."""
OF_INSTALLERS = {
    "libgnutls30", "libhogweed6", "libidn2-0", "libnettle8", "libp11-kit0", "libtasn1-6",
    "libunistring2", "libunistring5",
}  # fmt: skip
"""Libraries that apt alone uses."""
VERSIONED = re.compile(r"python3\.\d+-venv|perl-modules-.*|libperl\d.*")
PYTHON_TOOLS = (
    "pip", "pip-*", "setuptools", "setuptools-*", "pkg_resources", "wheel", "wheel-*",
    "_distutils_hack", "distutils-precedence.pth", "ensurepip", "idlelib", "lib2to3", "tkinter",
    "turtledemo", "test", "config-3.*",
)  # fmt: skip
"""Of Python's library and its site-packages."""
UNREAD = (
    "usr/share/doc/*", "usr/share/man/*", "usr/share/info/*", "usr/share/locale/*",
    "usr/share/lintian/*", "usr/share/python-wheels", "usr/share/perl*", "usr/local/share/man/*",
    "usr/local/include/*", "usr/include/*", "var/cache/*", "var/lib/apt/*", "var/log/*", "tmp/*",
    "var/tmp/*", "run/*", "root/.cache", "root/.gnupg", "usr/lib/*/gconv",
    "usr/share/zoneinfo/right", "usr/share/zoneinfo/posix",
)  # fmt: skip
"""Also what nobody here reads: alphabets for iconv (Python has its own), and zones twice over."""
PROGRAMS = ("pip", "pip3", "pip3.*", "wheel", "idle*", "2to3*", "pydoc*", "python3*-config")
_STATUS = "var/lib/dpkg/status"
_INFO = "var/lib/dpkg/info"
_WRITABLE_BY_OTHERS, _SET_ID = 0o022, 0o6000
_SHARED_FOLDER = 0o1777


def trim(root: Path) -> None:
    """Take everything away that has no use in a container."""
    drop_packages(root)
    for pattern in UNREAD:
        _remove(root.glob(pattern))
    for folder in ("usr/bin", "usr/local/bin"):
        _remove(path for name in PROGRAMS for path in (root / folder).glob(name))
    for library in libraries(root):
        tools = [path for name in PYTHON_TOOLS for path in library.glob(name)]
        _remove([*tools, *library.rglob("__pycache__")])
        compile_library(library, root)
    close(root)


def drop_packages(root: Path) -> None:
    """Remove Debian's packages that are named above, and what the table says of them."""
    status = root / _STATUS
    if not status.is_file():
        return
    stanzas = [each for each in status.read_text().split("\n\n") if each.strip()]
    gone = {name for name in map(_name, stanzas) if is_dropped(name)}
    kept = [each for each in stanzas if _name(each) not in gone]
    needed = {path for each in kept for path in _files(root, _name(each))}
    dropped = {path for name in gone for path in _files(root, name)} - needed
    # The longest first: a folder is empty once what is in it is gone.
    for path in sorted(dropped, key=len, reverse=True):
        _remove_empty_or_file(root / path.lstrip("/"))
    for name in gone:
        _remove([*(root / _INFO).glob(f"{name}.*"), *(root / _INFO).glob(f"{name}:*")])
    status.write_text("\n\n".join(kept).strip() + "\n\n")


def is_dropped(name: str) -> bool:
    """Whether a package of Debian has no use in a container."""
    return name in INSTALLERS | OF_INSTALLERS | OF_MACHINES or VERSIONED.fullmatch(name) is not None


def libraries(root: Path) -> Iterator[Path]:
    """The folders of Python's library, and of what is installed into it."""
    for base in ("usr/lib", "usr/local/lib"):
        for folder in (*root.glob(f"{base}/python3*/"),):
            yield from (folder, *folder.glob("site-packages/"), *folder.glob("dist-packages/"))


def compile_library(folder: Path, root: Path) -> None:
    """Compile what Python would otherwise compile in every process; sources never change here."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(
        folder, quiet=2, stripdir=str(root), prependdir="/", invalidation_mode=mode, workers=0
    )


def close(root: Path) -> None:
    """Take away what lets a process write, or become another user."""
    for path in (root, *root.rglob("*")):
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            continue
        mode = path.stat().st_mode & 0o7777
        closed = mode & ~(_WRITABLE_BY_OTHERS | _SET_ID)
        if closed != mode:
            path.chmod(closed)
    # What has a volume for scratch files has it there; without one, this is where they may be.
    (root / "tmp").mkdir(exist_ok=True)
    (root / "tmp").chmod(_SHARED_FOLDER)


def _name(stanza: str) -> str:
    found = re.search(r"^Package: (\S+)$", stanza, re.MULTILINE)
    return found[1] if found else ""


def _files(root: Path, name: str) -> Iterator[str]:
    for listed in (*(root / _INFO).glob(f"{name}.list"), *(root / _INFO).glob(f"{name}:*.list")):
        yield from (line for line in listed.read_text().splitlines() if line.strip("/."))


def _remove_empty_or_file(path: Path) -> None:
    """A link to a folder stays: /bin is one, and every package has something in it."""
    if path.is_dir():
        if not path.is_symlink() and not any(path.iterdir()):
            path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _remove(paths: Iterable[Path]) -> None:
    for path in list(paths):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def note_installed(root: Path, folder: Path) -> None:
    """Copy the table of what is installed; it is empty where the base is not of Debian."""
    folder.mkdir(parents=True)
    status = root / _STATUS
    (folder / "status").write_text(status.read_text() if status.is_file() else "")


if __name__ == "__main__":
    trim(Path(sys.argv[1]))
    note_installed(Path(sys.argv[1]), Path(sys.argv[2]))
