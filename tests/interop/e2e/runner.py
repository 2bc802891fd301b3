"""Conformance tests, shared between workers: for tests of ours and `python -m interop.e2e`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from envtest import binaries, build
from foreign.catalogue import AGNHOST, E2E, SAMPLE_APISERVER
from interop.e2e.image_tools import write_tools
from interop.e2e.report import Outcome
from interop.e2e.session import Programs, isolated
from interop.e2e.worker import Orders

LANES = 8
"""Workers side by side: tests mostly wait."""
BATCH = 12
POLL_SECONDS = 0.5
_CERTIFICATE = {"crt": "CERT_FILE", "key": "KEY_FILE"}
"""Files in the root of the image, and the variables that one of its programs has for them."""
IMAGES = """\
images:
- image: "*/e2e-test-images/agnhost"
  command: "/agnhost"
  argv: [bash, -c, 'exec -a /agnhost "$0" "$@"', {agnhost}]
  env: {env}
- image: "*/e2e-test-images/agnhost"
  command: "/agnhost-2"
  argv: [bash, -c, 'exec -a /agnhost-2 "$0" "$@"', {agnhost}]
  env: {env}
- image: "*/e2e-test-images/agnhost"
  argv: [bash, -c, 'ln -sf {files} "$QUINTANT_ROOT"; exec -a /agnhost "$0" "$@"', {agnhost}]
  args: [pause]
  env: {env}
- image: "*/e2e-test-images/*"
  command: "sh"
  argv: [bash]
  path: [{tools}]
- image: "*/e2e-test-images/*"
  command: "/bin/sh"
  argv: [bash]
  path: [{tools}]
- image: "*/e2e-test-images/agnhost"
  command: "*"
  path: [{tools}]
- image: "*/pause"
  argv: [sleep, infinity]
- image: "*/e2e-test-images/busybox"
  argv: [bash]
- image: "*/e2e-test-images/busybox"
  command: "*"
- image: "*/e2e-test-images/nautilus"
  argv: [{python}, -m, http.server, --bind, 0.0.0.0, --directory, {nautilus}, "80"]
- image: "*/e2e-test-images/sample-apiserver"
  argv: [bash, {extension_server}, {sample_apiserver}]
- image: "*/etcd"
  command: "/usr/local/bin/etcd"
  argv: [{etcd}]
"""
"""Shells and their like run with a root folder that cannot be written to: `session.isolated`. They
are bash: as the one of the images does, it knows `[[`, and keeps variables with any names."""
STAGES = """\
stages:
- name: "the image of tests that cannot be had"
  match: {image: "*:404", state: new}
  delay: 0.5
  next: {state: waiting, reason: ErrImagePull, ready: false}
- name: "is not there later either"
  match: {image: "*:404", state: waiting}
"""


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs tests with programs that are built."""

    programs: Programs
    folder: Path
    """Where logs stay."""
    seconds: float
    """For one test."""
    lanes: int = LANES

    def run(self, names: Sequence[str], report: Callable[[Outcome], None]) -> list[Outcome]:
        """Run tests, and report each as it ends."""
        shares = [share for lane in range(self.lanes) if (share := names[lane :: self.lanes])]
        workers = [self._start(index, share) for index, share in enumerate(shares)]
        ended: list[Outcome] = []
        try:
            while running := [worker for worker in workers if worker.poll() is None]:
                ended.extend(self._news(len(ended), report))
                time.sleep(POLL_SECONDS)
            ended.extend(self._news(len(ended), report))
        finally:
            for worker in running:
                # unshare does not heed SIGTERM; with it, all that is in its namespace ends.
                worker.kill()
                worker.wait()
        return ended

    def _start(self, lane: int, names: Sequence[str]) -> subprocess.Popen[bytes]:
        logs = self.folder / f"lane-{lane}"
        logs.mkdir(parents=True)
        orders = Orders(
            names=list(names),
            results=self._results,
            logs=logs,
            seconds=self.seconds,
            batch=BATCH,
            e2e=self.programs.e2e,
            kubectl=self.programs.kubectl,
            images=self.programs.images,
            stages=self.programs.stages,
        )
        file = logs / "orders.json"
        file.write_bytes(msgspec.json.encode(orders, enc_hook=str))
        with (logs / "worker.log").open("wb") as log:
            return subprocess.Popen(
                isolated((sys.executable, "-m", "interop.e2e.worker", str(file)), self.folder),
                stdout=log,
                stderr=subprocess.STDOUT,
                # Processes of another namespace look like ended ones to a cluster that tidies up.
                env={**os.environ, "TMPDIR": str(logs)},
            )

    def _news(self, known: int, report: Callable[[Outcome], None]) -> Iterator[Outcome]:
        """Report the outcomes after those that are known."""
        for outcome in read_results(self._results)[known:]:
            report(outcome)
            yield outcome

    @property
    def _results(self) -> Path:
        """What all workers append to."""
        return self.folder / "results.jsonl"


def read_results(file: Path) -> list[Outcome]:
    """Every outcome of a file that may still grow."""
    lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else ()
    return [msgspec.json.decode(line, type=Outcome) for line in lines]


def programs(folder: Path) -> Programs:
    """Return what a session needs; built first, with progress, or ProgramError."""
    e2e, agnhost = E2E.provide(os.environ), AGNHOST.provide(os.environ)
    sample_apiserver = SAMPLE_APISERVER.provide(os.environ)
    kubernetes = build.provide(os.environ, (binaries.KUBECTL, binaries.STORE))
    images = folder / "images.yaml"
    sources = E2E.source(os.environ) / "test/images"
    files = {name: sources / f"agnhost/porter/localhost.{name}" for name in _CERTIFICATE}
    env = {variable: str(files[name]) for name, variable in _CERTIFICATE.items()}
    images.write_text(
        IMAGES.format(
            agnhost=agnhost,
            files=" ".join(map(str, files.values())),
            env=json.dumps(env),
            tools=write_tools(folder / "tools"),
            python=sys.executable,
            nautilus=sources / "nautilus/html",
            extension_server=Path(__file__).with_name("extension_server.sh"),
            sample_apiserver=sample_apiserver,
            etcd=kubernetes / binaries.STORE,
        )
    )
    stages = folder / "stages.yaml"
    stages.write_text(STAGES)
    return Programs(e2e, kubernetes / binaries.KUBECTL, images, stages)
