"""A cluster that is already there, when the user says that it may be destroyed.

`KUBECONFIG` alone is never enough: it may name somebody's production cluster, and our suites
create and delete whatever they like. Only together with `QUINTANT_DISPOSABLE=1` is it used.
kubectl reads the kubeconfig for us, merged and with its files inlined, as every client would.
"""

import base64
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envtest import binaries
from envtest.access import Access, write_secret
from foreign.errors import ProgramError

_VIEW = ("config", "view", "--raw", "--minify", "--flatten", "--output=json")


def disposable(environ: Mapping[str, str]) -> bool:
    """Say whether the environment names a cluster and declares it disposable."""
    return environ.get("QUINTANT_DISPOSABLE") == "1" and bool(environ.get("KUBECONFIG"))


def existing(environ: Mapping[str, str], folder: Path) -> Access:
    """Return access to the cluster that KUBECONFIG names; its files are copied to the folder."""
    document = json.loads(_view(environ))
    write_secret(folder / "kubeconfig", document)
    return access(document, folder)


def access(document: Mapping[str, Any], folder: Path) -> Access:
    """Return access by a kubeconfig of one context with its files inlined."""
    cluster = document["clusters"][0]["cluster"]
    user = document["users"][0]["user"] if document.get("users") else {}
    authority = cluster.get("certificate-authority-data")
    if not authority:
        raise _unusable("it names no certificate authority")

    ca = folder / "ca.crt"
    ca.write_bytes(base64.b64decode(authority))
    return Access(cluster["server"], user.get("token", ""), ca, folder / "kubeconfig")


def kubectl(environ: Mapping[str, str]) -> str:
    """Return kubectl: the one named by KUBECTL, the one on the path, or the one in the cache."""
    cached = binaries.cached(environ) / binaries.KUBECTL
    found = (
        environ.get("KUBECTL")
        or shutil.which(binaries.KUBECTL, path=environ.get("PATH", ""))
        or shutil.which(cached)
    )
    if found is None:
        raise _unusable("there is no kubectl to read it with")
    return found


def _view(environ: Mapping[str, str]) -> str:
    command = (kubectl(environ), *_VIEW)
    answer = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise _unusable(answer.stderr.strip().replace("\n", "; "))
    return answer.stdout


def _unusable(why: str) -> ProgramError:
    return ProgramError(
        "cannot use the cluster named by KUBECONFIG",
        why=why,
        hint="check it with kubectl, or unset QUINTANT_DISPOSABLE to start one instead",
    )
