"""Where the real binaries are: named by the user, or in the cache.

The order is `KUBEBUILDER_ASSETS`, then the cache. A folder the user named is taken as it is and
never written to: what it lacks is an error, not a reason to build for a quarter of an hour.
The cache lives outside the repository, one folder per Kubernetes version (`versions`); ETCD moves
only together with KUBERNETES, so the version of Kubernetes is the whole key.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from envtest.versions import chosen
from foreign.cache import cache_folder
from foreign.errors import ProgramError

APISERVER = "kube-apiserver"
MANAGER = "kube-controller-manager"
SCHEDULER = "kube-scheduler"
KUBECTL = "kubectl"
STORE = "etcd"

PAIR = (STORE, APISERVER)
ALL = (STORE, APISERVER, MANAGER, KUBECTL)
TESTED = (*PAIR, KUBECTL)
"""What tests/real starts: there, what a controller manager does is done by the tests."""


def locate(environ: Mapping[str, str], needed: Iterable[str] = PAIR) -> Path | None:
    """Return the folder that holds the needed binaries, or None where they must be built."""
    if assets := environ.get("KUBEBUILDER_ASSETS"):
        return _assets(Path(assets), needed, chosen(environ))

    folder = cached(environ)
    return None if missing(folder, needed) else folder


def cached(environ: Mapping[str, str]) -> Path:
    """Return the folder in the cache where this version's binaries belong."""
    return cache_folder(environ) / f"kubernetes-{chosen(environ)}" / "bin"


def kubectl_of(environ: Mapping[str, str], version: str) -> Path:
    """Return where the kubectl of another release belongs."""
    return cache_folder(environ) / f"{KUBECTL}-{version}" / "bin" / KUBECTL


def other_kubectls(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the kubectls of other releases that were built, by their names."""
    return tuple(sorted(cache_folder(environ).glob(f"{KUBECTL}-*/bin/{KUBECTL}")))


def missing(folder: Path, needed: Iterable[str]) -> tuple[str, ...]:
    """Return those names for which the folder has no program."""
    return tuple(name for name in needed if not os.access(folder / name, os.X_OK))


def _assets(folder: Path, needed: Iterable[str], version: str) -> Path:
    if absent := missing(folder, needed):
        raise ProgramError(
            f"cannot use KUBEBUILDER_ASSETS={folder}",
            why=f"it has no program named {', '.join(absent)}",
            hint=f"unset KUBEBUILDER_ASSETS, so that {version} is built with Go",
        )
    return folder
