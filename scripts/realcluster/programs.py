"""What a real cluster is made of, beside the control plane of `envtest`.

Kubernetes' own programs and CoreDNS are built with Go, once per machine (`foreign.go_program`);
containerd, runc, the CNI plugins, nft and ip are Debian's, and are only looked for.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from envtest import binaries
from envtest.build import provide
from foreign.catalogue import HELM
from foreign.errors import ProgramError, Report, announce
from foreign.go_program import GoProgram
from foreign.gomod import KUBERNETES_MODULE
from gitops.verdicts import JUDGE
from quintant.version import KUBERNETES

_COREDNS = "github.com/coredns/coredns"
_PLUGINS = ("health", "ready", "errors", "cache", "kubernetes")
_MAIN = """\
package main

import (
	"{module}/core/dnsserver"
	"{module}/coremain"
{imports}
)

func init() {{ dnsserver.Directives = []string{{{names}}} }}

func main() {{ coremain.Run() }}
"""


def _main(plugins: tuple[str, ...]) -> str:
    """A CoreDNS with these plugins and no others: all of them take an hour to build."""
    imports = "\n".join(f'\t_ "{_COREDNS}/plugin/{name}"' for name in sorted(plugins))
    names = ", ".join(f'"{name}"' for name in plugins)
    return _MAIN.format(module=_COREDNS, imports=imports, names=names)


def _kubernetes(name: str) -> GoProgram:
    return GoProgram(name, KUBERNETES_MODULE, KUBERNETES, f"{KUBERNETES_MODULE}/cmd/{name}")


SCHEDULER = _kubernetes("kube-scheduler")
KUBELET = _kubernetes("kubelet")
PROXY = _kubernetes("kube-proxy")
COREDNS = GoProgram("coredns", _COREDNS, "v1.15.0", main=_main(_PLUGINS))
BUILT = (COREDNS, SCHEDULER, PROXY, KUBELET)

PACKAGES: Mapping[str, str] = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "nft": "nftables",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "mount": "mount",
    "/usr/lib/cni/bridge": "containernetworking-plugins",
    "buildah": "buildah",
    "mmdebstrap": "mmdebstrap",
}
"""Programs of the distribution, and the package that each is in."""


@dataclass(frozen=True)
class Programs:
    """Where every program that is built is."""

    control_plane: Path
    """The folder of etcd, kube-apiserver, kube-controller-manager and kubectl."""
    scheduler: Path
    kubelet: Path
    proxy: Path
    dns: Path
    helm: Path
    judge: Path
    """What kstatus says of objects."""

    @property
    def kubectl(self) -> Path:
        """The user's tool."""
        return self.control_plane / binaries.KUBECTL


def missing_packages() -> tuple[str, ...]:
    """The Debian packages whose programs are not on this machine."""
    absent = (package for name, package in PACKAGES.items() if shutil.which(name) is None)
    return tuple(dict.fromkeys(absent))


def provide_programs(environ: Mapping[str, str], *, report: Report = announce) -> Programs:
    """Return every program; build first what is missing, one at a time."""
    if absent := missing_packages():
        raise ProgramError(
            "cannot run a real cluster",
            why=f"programs of {', '.join(absent)} are not on the PATH",
            hint=f"apt-get install --no-install-recommends {' '.join(absent)}",
        )
    control_plane = provide(environ, binaries.ALL, report=report)
    dns, scheduler, proxy, kubelet = (each.provide(environ, report=report) for each in BUILT)
    helm = HELM.provide(environ, report=report)
    judge = JUDGE.provide(environ, report=report)
    return Programs(control_plane, scheduler, kubelet, proxy, dns, helm, judge)
