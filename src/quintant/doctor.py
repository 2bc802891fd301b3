"""What is wrong with a set-up, and what to do about it: checks, each with one finding.

A check never raises for what it looks at. What stops everything is BAD; what stops something, or
will one day, is ODD and says what.
"""

from __future__ import annotations

import asyncio
import os
import platform
import resource
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum
from importlib.util import find_spec

from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import JSON, ApiRequest, Transport
from quintant.core import codec
from quintant.core.clock import Clock
from quintant.core.errors import QuintantError
from quintant.version import KUBERNETES, QUINTANT

OLDEST = (3, 11)
# A second address of the loopback network: the embedded node gives each pod one of its own.
ANOTHER_LOOPBACK = "127.77.0.1"
# Files and connections of an embedded cluster with a few hundred watches.
FEW_FILES = 1024
# Tokens and leases carry times; Kubernetes itself tolerates about as much.
SKEW_SECONDS = 10.0
SECONDS = 5.0
"""How long the cluster may take to answer."""


class Verdict(Enum):
    """How it is."""

    GOOD = "ok"
    ODD = "note"
    BAD = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and what to do."""

    subject: str
    verdict: Verdict
    message: str
    hint: str = ""


async def examine(
    environ: Mapping[str, str], clock: Clock, find: Callable[[], Config] = Config.discover
) -> list[Finding]:
    """Look at this machine, and at the cluster that `find` finds."""
    return [*machine(environ), *await cluster(clock, find)]


def machine(environ: Mapping[str, str]) -> Iterator[Finding]:
    """What this machine has."""
    yield Finding("quintant", Verdict.GOOD, f"{QUINTANT}, for Kubernetes {KUBERNETES}")
    yield _python()
    yield _event_loop()
    yield _loopback()
    yield _files()
    yield _folder()
    yield _kubectl(environ)


async def cluster(clock: Clock, find: Callable[[], Config] = Config.discover) -> list[Finding]:
    """How the cluster of the kubeconfig, or of the pod, can be reached."""
    try:
        config = find()
    except QuintantError as error:
        first, _, rest = str(error).partition("\n")
        return [Finding("cluster", Verdict.ODD, first, rest or "quintant up starts one")]
    transport = HttpTransport(config)
    try:
        async with asyncio.timeout(SECONDS):
            return await reach(transport, config.server, clock)
    except TimeoutError:
        message = f"{config.server} does not answer within {SECONDS:g} s"
        return [Finding("cluster", Verdict.BAD, message, "is it running? quintant up starts one")]
    except QuintantError as error:
        first, _, rest = str(error).partition("\n")
        return [Finding("cluster", Verdict.BAD, first, rest)]
    finally:
        await transport.close()


async def reach(transport: Transport, server: str, clock: Clock) -> list[Finding]:
    """How a cluster answers."""
    reply = await transport.request(ApiRequest("GET", "/version", headers={"accept": JSON}))
    if reply.status != 200:
        message = f"{server} answers {reply.status}"
        return [Finding("cluster", Verdict.BAD, message, "is it an API server?")]
    version = codec.decode_reply(reply.body, dict[str, object]).get("gitVersion", "unknown")
    found = [Finding("cluster", Verdict.GOOD, f"{server}, Kubernetes {version}")]
    if date := reply.headers.get("date"):
        found.append(_skew((parsedate_to_datetime(date) - clock.now()).total_seconds()))
    found.append(await _credentials(transport))
    return found


async def _credentials(transport: Transport) -> Finding:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    reply = await transport.request(ApiRequest("GET", path, {"limit": "1"}, {"accept": JSON}))
    if reply.status == 401:
        hint = "renew them: kubectl config view --minify shows where they come from"
        return Finding("credentials", Verdict.BAD, "the cluster does not accept them", hint)
    if reply.status == 403:
        hint = "an administrator installs CRDs and roles: quintant manifests MODULE"
        return Finding("credentials", Verdict.ODD, "they do not allow to see CRDs", hint)
    return Finding("credentials", Verdict.GOOD, "accepted")


def _skew(seconds: float) -> Finding:
    if abs(seconds) <= SKEW_SECONDS:
        return Finding("clock", Verdict.GOOD, "agrees with the cluster's")
    message = f"{abs(seconds):.0f} s {'behind' if seconds > 0 else 'ahead of'} the cluster's"
    return Finding("clock", Verdict.BAD, message, "set it: leases and tokens carry times")


def _python() -> Finding:
    version = platform.python_version()
    if sys.version_info[:2] < OLDEST:
        return Finding("python", Verdict.BAD, version, "install Python 3.11 or newer")
    return Finding("python", Verdict.GOOD, version)


def _event_loop() -> Finding:
    if find_spec("uvloop"):
        return Finding("event loop", Verdict.GOOD, "uvloop")
    return Finding("event loop", Verdict.ODD, "asyncio's own", "pip install uvloop is faster")


def _loopback() -> Finding:
    try:
        with socket.socket() as probe:
            probe.bind((ANOTHER_LOOPBACK, 0))
    except OSError:
        hint = f"sudo ifconfig lo0 alias {ANOTHER_LOOPBACK}, for each pod at a time"
        return Finding("pod addresses", Verdict.ODD, "only 127.0.0.1 can be used here", hint)
    return Finding("pod addresses", Verdict.GOOD, "127.0.0.0/8")


def _files() -> Finding:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    message = f"{limit:,} at once"
    if limit < FEW_FILES:
        return Finding("open files", Verdict.ODD, message, f"ulimit -n {FEW_FILES * 4}")
    return Finding("open files", Verdict.GOOD, message)


def _folder() -> Finding:
    folder = tempfile.gettempdir()
    if os.access(folder, os.W_OK | os.X_OK):
        return Finding("temporary folder", Verdict.GOOD, folder)
    return Finding("temporary folder", Verdict.BAD, f"{folder} cannot be written", "set TMPDIR")


def _kubectl(environ: Mapping[str, str]) -> Finding:
    named = environ.get("KUBECTL", "")
    found = shutil.which(named or "kubectl", path=environ.get("PATH"))
    if found:
        return Finding("kubectl", Verdict.GOOD, found)
    if named:
        return Finding("kubectl", Verdict.BAD, f"KUBECTL names {named}, which is not there")
    hint = "install it to look around, or set KUBECTL"
    return Finding("kubectl", Verdict.ODD, "not found on PATH", hint)
