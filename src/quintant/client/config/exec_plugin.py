"""Credentials from a program: the exec plugins of a kubeconfig (aws, gcloud, kubelogin and others).

The program reads what is wanted in KUBERNETES_EXEC_INFO and prints an ExecCredential. It runs
once for however many requests wait, its answer is kept until it expires or the server refuses it,
and a certificate in it that did not change keeps its connections.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from quintant.client.config.config import Config
from quintant.client.config.credentials import Credential, bearer_header
from quintant.client.config.tls import require_key_pair
from quintant.client.config.user import Plugin
from quintant.core.clock import Clock, monotonic
from quintant.core.errors import ConfigError, NoCredentials
from quintant.keys.sensitive import MASK, Sensitive
from quintant.keys.tls import KeyPair
from quintant.wire.foreign import MalformedInput, decode_json

INFO = "KUBERNETES_EXEC_INFO"
# A program that asks no person anything has a minute; one that asks a person waits for the person.
RUN_SECONDS = 60.0
# What is shown of a failed program's complaints: the end, where the reason usually is.
COMPLAINT_CHARACTERS = 2000
# A variable's value shorter than this is no secret, and masking it would garble the complaint.
SECRET_CHARACTERS = 8


class ProcessResult(Struct, frozen=True):
    """How a program ended and what it printed."""

    code: int
    stdout: Sensitive[bytes]
    stderr: str = ""


class Runner(Protocol):
    """A way to run a program to its end; OSError when it cannot be started."""

    async def __call__(
        self, argv: tuple[str, ...], env: Mapping[str, str], interactive: bool
    ) -> ProcessResult: ...


class _Given(msgspec.Struct, frozen=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _Credential(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    status: _Given | None = None


async def run_plugin(
    argv: tuple[str, ...], env: Mapping[str, str], interactive: bool
) -> ProcessResult:
    """Run a program of this machine; an interactive one talks to our terminal."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        env=env,
        stdin=None if interactive else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=None if interactive else asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(None if interactive else RUN_SECONDS):
            stdout, stderr = await process.communicate()
    except TimeoutError:
        return ProcessResult(-1, Sensitive(b""), f"it did not end within {RUN_SECONDS:g} s")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return ProcessResult(
        process.returncode or 0, Sensitive(stdout), (stderr or b"").decode(errors="replace")
    )


class ExecPluginCredential:
    """Tokens and certificates from an exec plugin."""

    def __init__(
        self,
        plugin: Plugin,
        cluster: Mapping[str, Any],
        clock: Clock,
        *,
        run: Runner = run_plugin,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._plugin, self._cluster, self._clock = plugin, cluster, clock
        self._run, self._environ = run, environ
        self._turn = asyncio.Lock()
        self._credential: Credential | None = None
        self._expires: datetime | None = None
        self._pair: KeyPair | None = None
        self._learned = 0.0

    async def credential(self) -> Credential:
        if self._credential is not None and not self._expired():
            return self._credential
        async with self._turn:  # a caller that waited here finds the answer of the one before
            if self._credential is None or self._expired():
                self._credential = await self._ask()
            return self._credential

    def invalidate(self, began: float) -> bool:
        if began > self._learned:
            self._credential = None
        return True

    def _expired(self) -> bool:
        return self._expires is not None and self._clock.now() >= self._expires

    async def _ask(self) -> Credential:
        interactive = self._interactive()
        env = {
            **self._environ,
            **{name: value.reveal() for name, value in self._plugin.env.items()},
            INFO: self._info(interactive),
        }
        try:
            ending = await self._run((self._plugin.command, *self._plugin.args), env, interactive)
        except OSError as error:
            hint = self._plugin.hint if isinstance(error, FileNotFoundError) else ""
            raise self._failed(f"it cannot be started: {error.strerror}", hint) from None
        if ending.code != 0:
            raise self._failed(f"it ended with {ending.code}: {self._complaint(ending.stderr)}")
        return self._take(self._parsed(ending.stdout))

    def _take(self, given: _Given) -> Credential:
        self._expires = given.expiration_timestamp
        self._learned = monotonic()
        self._pair = self._newest(given)
        try:
            return Credential(
                bearer_header(Sensitive(given.token)) if given.token else {}, self._pair
            )
        except ValueError as error:
            raise self._failed(str(error)) from None

    def _newest(self, given: _Given) -> KeyPair | None:
        """The pair that was given: the one we know already, if it is the same."""
        if not given.client_certificate_data:
            return None
        certificate = Sensitive(given.client_certificate_data.encode())
        pair = KeyPair(certificate, Sensitive(given.client_key_data.encode()))
        if pair == self._pair:
            return self._pair
        try:
            require_key_pair(pair)
        except ConfigError as error:
            raise self._failed(error.because) from None
        return pair

    def _parsed(self, stdout: Sensitive[bytes]) -> _Given:
        try:
            credential = decode_json(stdout.reveal(), _Credential)
        except MalformedInput:
            raise self._failed("it did not print an ExecCredential") from None
        if credential.kind != "ExecCredential" or credential.api_version != self._plugin.version:
            raise self._failed(
                f"it printed {credential.api_version} {credential.kind}",
                f"exec.apiVersion of the kubeconfig is {self._plugin.version}",
            )
        given = credential.status or _Given()
        if bool(given.client_certificate_data) != bool(given.client_key_data):
            raise self._failed("it printed a certificate or a key, not both")
        if not given.token and not given.client_certificate_data:
            raise self._failed("it printed neither a token nor a certificate")
        return given

    def _interactive(self) -> bool:
        mode = self._plugin.interactive
        terminal = sys.stdin is not None and sys.stdin.isatty()
        if mode == "Always" and not terminal:
            raise self._failed("it wants to ask a person, and there is no terminal")
        return mode != "Never" and terminal

    def _info(self, interactive: bool) -> str:
        spec: dict[str, Any] = {"interactive": interactive}
        if self._plugin.provide_cluster_info:
            spec["cluster"] = self._cluster
        document = {"apiVersion": self._plugin.version, "kind": "ExecCredential", "spec": spec}
        return msgspec.json.encode(document).decode()

    def _complaint(self, stderr: str) -> str:
        for value in self._plugin.env.values():
            if len(value.reveal()) >= SECRET_CHARACTERS:
                stderr = stderr.replace(value.reveal(), MASK)
        return stderr.strip()[-COMPLAINT_CHARACTERS:] or "it said nothing"

    def _failed(self, why: str, hint: str = "") -> NoCredentials:
        what = f"cannot get credentials from exec plugin {self._plugin.command}"
        return NoCredentials(what, because=why, hint=hint)


def cluster_info(config: Config) -> Mapping[str, Any]:
    """What a plugin may know of the cluster, in the form of an ExecCredential."""
    trust, plugin = config.trust, config.user.plugin
    authority = trust.authority.read().reveal() if trust.authority else b""
    fields = {
        "server": config.server,
        "tls-server-name": trust.server_name,
        "insecure-skip-tls-verify": trust.insecure,
        "certificate-authority-data": base64.b64encode(authority).decode(),
        "proxy-url": config.proxy.reveal() if config.proxy else "",
        "config": plugin.extension if plugin else None,
    }
    return {name: value for name, value in fields.items() if value}
