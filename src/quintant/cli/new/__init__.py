"""`quintant new`: a project that runs, with a controller, tests of it, and how it is installed.

The files are those of `skeleton`, with the words of the project put in. Quintant itself is laid
beside them as a wheel, so that the project installs the one that made it, whatever an index has
under that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from quintant.cli.new.wheel import provide_wheel
from quintant.core.errors import ConfigError

_NAME = re.compile(r"[a-z]([a-z0-9-]{0,48}[a-z0-9])?")
"""A DNS label, short enough to be the beginning of others."""
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_GROUP = re.compile(rf"{_LABEL}(\.{_LABEL})+")
"""A DNS subdomain with a dot at least, as a CustomResourceDefinition wants its group."""
_GROUP_LENGTH = 253
_SUFFIX = ".tmpl"
_PACKAGE = "package"
"""The folder of the skeleton that becomes the project's package."""
_RENAMED = {"gitignore": ".gitignore", "github": ".github"}
VENDOR = "vendor"


@click.command("new")
@click.argument("name")
@click.option("--group", help="The API group of its kind; NAME.example.com unless given.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True),
    help="A wheel or a source folder of Quintant; the running one unless given.",
)
def command(name: str, group: str | None, source: Path | None) -> None:
    """Make a project with a controller that runs, in a new folder."""
    folder = Path(name)
    _check(name, folder)
    group = f"{name}.example.com" if group is None else group
    _check_group(group)
    folder.mkdir()
    wheel = provide_wheel(folder / VENDOR, source)
    for path, text in project_files(name, wheel, group):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        click.echo(f"wrote {target}")
    click.echo(f"try: cd {folder} && make test")


def project_files(name: str, wheel: str, group: str) -> Iterator[tuple[Path, str]]:
    """The files of a project, and their texts."""
    package = name.replace("-", "_")
    words = {
        "name": name,
        "package": package,
        "kind": "".join(word.capitalize() for word in name.split("-")),
        "group": group,
        "version": wheel.split("-")[1],
        "wheel": f"{VENDOR}/{wheel}",
    }
    for path, text in _templates(files(__package__) / "skeleton", Path()):
        first, *rest = path.parts
        target = Path("src", package, *rest) if first == _PACKAGE else path
        yield target, _filled(text, words)


def _templates(folder: Traversable, at: Path) -> Iterator[tuple[Path, str]]:
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            yield from _templates(entry, at / _RENAMED.get(entry.name, entry.name))
        elif entry.name.endswith(_SUFFIX):
            name = entry.name.removesuffix(_SUFFIX)
            yield at / _RENAMED.get(name, name), entry.read_text()


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda match: words[match[1]], text)


def _check(name: str, folder: Path) -> None:
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"cannot make a project {name!r}",
            because="it names a package, a role and an API group: small letters, digits and dashes",
            hint="quintant new my-operator",
        )
    if folder.exists():
        raise ConfigError(
            f"cannot make a project in {folder}",
            because="there is something of that name already",
            hint="another name, or another folder",
        )


def _check_group(group: str) -> None:
    if len(group) > _GROUP_LENGTH or not _GROUP.fullmatch(group):
        raise ConfigError(
            f"cannot make a project with the API group {group[:80]!r}",
            because="no API server takes it: words of small letters, digits and dashes, with dots",
            hint="--group shops.example.com",
        )
