"""The Go modules that the binaries are built from: pure text in, text out.

k8s.io/kubernetes cannot be built as a dependency: its go.mod asks for k8s.io/api v0.0.0 and its
like, and replaces them by folders that its module archive lacks. Each of those folders is also
published as a module, where v1.X.Y is called v0.X.Y; so a main module of our own replaces every
one of them by the published module of the same release. Replacements by published modules are
taken over as they are: Go heeds only those of the main module.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

KUBERNETES_MODULE = "k8s.io/kubernetes"
ETCD_MODULE = "go.etcd.io/etcd/server/v3"

_MAIN_MODULE = "quintant.dev/foreign"
_STAGED = re.compile(r"^\s*(?:replace\s+)?(\S+)\s+=>\s+\./staging/", re.MULTILINE)
_PUBLISHED = re.compile(
    r"^\s*(?:replace\s+)?(\S+(?:[ \t]+v\S+)?)[ \t]+=>[ \t]+([^.\s]\S*[ \t]+v\S+)", re.MULTILINE
)
_LANGUAGE = re.compile(r"^go\s+(\S+)", re.MULTILINE)
_RELEASE = re.compile(r"v1\.(\d+)\.(\d+\S*)")

# What the release scripts of Kubernetes stamp; clients parse gitVersion, so it must be set.
_STAMPED_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


@dataclass(frozen=True)
class Module:
    """One published Go module, as the module cache describes it."""

    path: str
    version: str
    gomod: str
    """The text of its go.mod."""
    published: str
    """When this version was published, in RFC 3339."""
    source: str = ""
    """The path under which it is published, where it calls itself something else."""


def main_module(
    module: Module,
    newer: Iterable[str] = (),
    copy: str = "",
    instead: Iterable[tuple[str, str]] = (),
) -> str:
    """Return the go.mod of a main module from which the given module's programs build.

    `newer` are requirements of ours beside its own, as `path version`: the newest of all wins.
    `copy` is a folder that stands for the module; `instead` are modules that stand for others.
    """
    source = f"{module.source} {module.version}" if module.source else ""
    own = f"./{copy}" if copy else source
    lines = [
        f"module {_MAIN_MODULE}",
        f"go {language(module.gomod)}",
        f"require {module.path} {module.version}",
        *(f"require {each}" for each in newer),
        *_replacements(staged(module.gomod), module.version),
        *(f"replace {old} => {new}" for old, new in _PUBLISHED.findall(module.gomod)),
        *((f"replace {module.path} => {own}",) if own else ()),
        *(f"replace {old} => {new or f'./{empty_folder(old)}'}" for old, new in instead),
    ]
    return "\n\n".join(lines) + "\n"


def empty_folder(module: str) -> str:
    """Return the folder, beside a main module, of the empty one that stands for another."""
    return f"empty/{module}"


def staged(gomod: str) -> tuple[str, ...]:
    """Return the modules that a go.mod replaces by folders of its own staging area."""
    return tuple(_STAGED.findall(gomod))


def language(gomod: str) -> str:
    """Return the Go version that a go.mod asks for."""
    found = _LANGUAGE.search(gomod)
    if found is None:
        raise ValueError("expected a line such as 'go 1.26.0' in go.mod, found none")
    return found[1]


def staging_version(version: str) -> str:
    """Return the version under which the staging modules of a Kubernetes release are published."""
    minor, patch = _release(version)
    return f"v0.{minor}.{patch}"


def linker_flags(module: Module) -> str:
    """Return the value of -ldflags: no symbols, and the version for Kubernetes' programs."""
    if module.path != KUBERNETES_MODULE:
        return "-s -w"

    stamps = (
        f"-X {package}.{name}={value}"
        for package in _STAMPED_PACKAGES
        for name, value in _stamps(module).items()
    )
    return " ".join(("-s -w", *stamps))


def _replacements(modules: Iterable[str], version: str) -> tuple[str, ...]:
    return tuple(f"replace {path} => {path} {staging_version(version)}" for path in modules)


def _stamps(module: Module) -> dict[str, str]:
    minor, _ = _release(module.version)
    return {
        "gitVersion": module.version,
        "gitMajor": "1",
        "gitMinor": minor,
        "gitTreeState": "clean",
        # A module archive does not say from which commit it was made.
        "gitCommit": "unknown",
        "buildDate": module.published,
    }


def _release(version: str) -> tuple[str, str]:
    found = _RELEASE.fullmatch(version)
    if found is None:
        raise ValueError(f"expected a Kubernetes release such as v1.36.3, got {version!r}")
    return found[1], found[2]
