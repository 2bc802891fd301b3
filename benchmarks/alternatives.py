"""The embedded cluster beside what is used in its place: start, memory, a suite, what works.

kind and k3d have rows without figures: they need a container engine and images of registries.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil

from benchmarks.embedded import Target, embedded, real
from benchmarks.report import Table
from benchmarks.sizes import Sizes
from envtest import RealCluster
from envtest.existing import kubectl
from foreign.catalogue import CLIENT_TESTS, KWOK
from foreign.process import Child
from realcluster.programs import SCHEDULER

LIMIT = "30s"
"""How long something may take before it counts as what a cluster does not do."""
LIMIT_SECONDS = 40.0
ALONE, WHOLE, PAIR = "quintant up --api-only", "quintant up", "envtest: kube-apiserver + etcd"
SIMULATED = "kwok: the pair, its controllers, kube-scheduler, kwok"
ELSEWHERE = ("kind", "k3d")
METHOD = (
    "one after the other on this machine, load before it {load:.1f}. Start: until the server "
    "answers; of `quintant up` until its controllers, scheduler and node work, of kwok until its "
    "node is Ready. Memory: the resident memory of all processes, with no objects. The suite: the "
    "tests of controller-runtime's client, as published ({version}), on a server that runs "
    "already; they are written for one without controllers, and some fail where those write, too. "
    "What works: done with kubectl, each within {limit}; kwok answers logs and exec where "
    "definitions say with what, and there were none. kind and k3d were not measured: neither runs "
    "without a container engine."
)
IMAGES = "images:\n- {image: example/shell, command: '*'}\n"
NODE = (
    "apiVersion: v1\nkind: Node\nmetadata: {name: kwok, annotations: {kwok.x-k8s.io/node: fake}}\n"
)
_RAN = re.compile(r"Ran (\d+) of \d+ Specs in ([\d.]+) seconds")
_PASSED = re.compile(r"(\d+) Passed")

Kubectl = Callable[..., bool]


def _namespace(run: Kubectl) -> bool:
    return run("create", "namespace", "leaving") and run(
        "delete", "namespace", "leaving", f"--timeout={LIMIT}"
    )


def _deployment(run: Kubectl) -> bool:
    return run("create", "deployment", "a", "--image=one", "--replicas=3") and run(
        "rollout", "status", "deployment/a", f"--timeout={LIMIT}"
    )


def _job(run: Kubectl) -> bool:
    return run("create", "job", "a", "--image=one") and run(
        "wait", "--for=condition=complete", "job/a", f"--timeout={LIMIT}"
    )


def _balancer(run: Kubectl) -> bool:
    address = "--for=jsonpath={.status.loadBalancer.ingress}"
    return run("create", "service", "loadbalancer", "a", "--tcp=80:8080") and run(
        "wait", address, "service/a", f"--timeout={LIMIT}"
    )


def _logs(run: Kubectl) -> bool:
    return _pod(run, "logs") and run("logs", "logs")


def _program(run: Kubectl) -> bool:
    return _pod(run, "exec") and run("exec", "exec", "--", "echo", "works")


def _pod(run: Kubectl, name: str) -> bool:
    words = ("--image=example/shell", "--restart=Never", "--command", "--", "sleep", "600")
    return run("run", name, *words) and run(
        "wait", "--for=condition=Ready", f"pod/{name}", f"--timeout={LIMIT}"
    )


ABILITIES: Mapping[str, Callable[[Kubectl], bool]] = {
    "namespaces go": _namespace,
    "Deployments": _deployment,
    "Jobs": _job,
    "load balancers": _balancer,
    "logs": _logs,
    "exec": _program,
}


@dataclass(frozen=True, slots=True)
class Figures:
    """What one cluster did."""

    start: float
    memory: float
    suite: str
    works: Mapping[str, bool] = field(default_factory=dict)

    @property
    def row(self) -> tuple[str, ...]:
        """Its cells."""
        told = ("yes" if self.works[each] else "no" for each in ABILITIES)
        return f"{self.start:.1f} s", f"{self.memory:.0f} MB", self.suite, *told


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure one after the other."""
    load = psutil.getloadavg()[0]
    CLIENT_TESTS.provide(os.environ)
    found: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory(prefix="quintant-bench-") as folder:
        images = Path(folder) / "images.yaml"
        images.write_text(IMAGES)
        clusters: dict[str, Callable[[], AbstractContextManager[Target]]] = {
            ALONE: partial(embedded, "--api-only"),
            WHOLE: partial(embedded, "--images", str(images)),
            PAIR: real,
            SIMULATED: simulated,
        }
        for name, cluster in clusters.items():
            say(f"alternatives: {name}")
            with cluster() as target:
                found[name] = _measured(target)
    nothing = ("-",) * (3 + len(ABILITIES))
    yield Table(
        "The embedded cluster beside what is used in its place",
        METHOD.format(load=load, version=CLIENT_TESTS.version, limit=LIMIT),
        ("", "start", "memory", "suite", *ABILITIES),
        [(name, *each.row) for name, each in found.items()]
        + [(name, *nothing) for name in ELSEWHERE],
    )


def _measured(target: Target) -> Figures:
    memory = sum(psutil.Process(pid).memory_info().rss for pid in target.pids) / 1e6
    suite = _suite(target.kubeconfig)
    asked = partial(_kubectl, target.kubeconfig)
    with ThreadPoolExecutor(len(ABILITIES)) as pool:
        # Side by side: what a cluster does not do takes the whole limit.
        trials = {name: pool.submit(able, asked) for name, able in ABILITIES.items()}
        works = {name: trial.result() for name, trial in trials.items()}
    return Figures(target.start, memory, suite, works)


def _kubectl(kubeconfig: Path, *words: str) -> bool:
    command = (kubectl(os.environ), f"--kubeconfig={kubeconfig}", *words)
    try:
        done = subprocess.run(command, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _suite(kubeconfig: Path) -> str:
    """How long the tests took, and how many of them passed."""
    program = CLIENT_TESTS.provide(os.environ)
    folder = CLIENT_TESTS.source(os.environ) / "pkg/client"
    env = {**os.environ, "KUBECONFIG": str(kubeconfig), "USE_EXISTING_CLUSTER": "true"}
    done = subprocess.run(
        (program, "-ginkgo.no-color"), cwd=folder, env=env, capture_output=True, text=True
    )
    ran, passed = _RAN.search(done.stdout), _PASSED.search(done.stdout)
    if ran is None or passed is None:
        return "did not run"
    return f"{float(ran[2]):.0f} s, {passed[1]} of {ran[1]}"


@contextmanager
def simulated() -> Iterator[Target]:
    """What `kwokctl create cluster` starts, and a node of kwok's."""
    stages = KWOK.source(os.environ) / "kustomize/stage"
    published = [*(stages / "pod/fast").glob("*-*.yaml"), *(stages / "node/fast").glob("*-*.yaml")]
    configs = [word for path in sorted(published) for word in ("--config", str(path))]
    programs = {each: str(each.provide(os.environ)) for each in (SCHEDULER, KWOK)}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quintant-bench-")))
        environ = {**os.environ, "QUINTANT_DISPOSABLE": ""}
        began = time.monotonic()
        cluster = stack.enter_context(RealCluster(controllers=True, environ=environ))
        path = Path(cluster.kubeconfig)
        flags = {
            SCHEDULER: ("--secure-port=0", "--leader-elect=false"),
            KWOK: ("--manage-all-nodes", "--node-port=0", "--cidr=192.0.2.1/24", *configs),
        }
        pids = [*cluster.pids.values()]
        for program, more in flags.items():
            command = (programs[program], f"--kubeconfig={path}", *more)
            child = Child(command, folder / f"{program.name}.log")
            stack.callback(child.stop)
            pids.append(child.pid)
        node = folder / "node.yaml"
        node.write_text(NODE)
        _kubectl(path, "apply", "-f", str(node))
        assert _kubectl(path, "wait", "--for=condition=Ready", "node/kwok", f"--timeout={LIMIT}")
        yield Target(path, pids, time.monotonic() - began)
