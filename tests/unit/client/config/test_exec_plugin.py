"""Promises of quintant.client.config.exec_plugin."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from quintant.client.config import exec_plugin as module
from quintant.client.config.config import Config
from quintant.client.config.exec_plugin import ExecPluginCredential, ProcessResult, cluster_info
from quintant.client.config.tls import Pem, TlsConfig
from quintant.client.config.user import AuthInfo, Plugin
from quintant.core.clock import LoopClock, monotonic, timestamp
from quintant.core.errors import NoCredentials
from quintant.keys.sensitive import Sensitive
from quintant.testing.loop import advance
from unit.client.pki import Authority

V1, BETA = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
LOGIN = Plugin("login", V1)
CLOCK = LoopClock()
AUTHORITY = Authority()


def printed(version: str = V1, kind: str = "ExecCredential", **status: Any) -> ProcessResult:
    document = {"apiVersion": version, "kind": kind, "status": status}
    return ProcessResult(0, Sensitive(json.dumps(document).encode()))


def later(seconds: float) -> str:
    return timestamp(CLOCK.now() + timedelta(seconds=seconds))


@dataclass
class Program:
    """A plugin that needs `seconds` and prints what it is told to."""

    ending: ProcessResult = field(default_factory=lambda: printed(token="one"))
    seconds: float = 0.0
    runs: list[tuple[tuple[str, ...], Mapping[str, str], bool]] = field(default_factory=list)

    async def __call__(
        self, argv: tuple[str, ...], env: Mapping[str, str], interactive: bool
    ) -> ProcessResult:
        self.runs.append((argv, env, interactive))
        await asyncio.sleep(self.seconds)
        return self.ending


def using(program: Program, plugin: Plugin = LOGIN, **cluster: Any) -> ExecPluginCredential:
    return ExecPluginCredential(plugin, cluster, CLOCK, run=program, environ={"PATH": "/bin"})


async def header(credentials: ExecPluginCredential) -> str:
    return (await credentials.credential()).headers.get("authorization", "")


async def test_token_is_shown_and_kept() -> None:
    program = Program()
    credentials = using(program)
    assert await header(credentials) == "Bearer one"
    await advance(3600)
    assert await header(credentials) == "Bearer one"
    assert len(program.runs) == 1


async def test_program_is_called_as_the_kubeconfig_says() -> None:
    program = Program()
    plugin = replace(
        LOGIN, args=("get", "-x"), env={"REGION": Sensitive("north")}, provide_cluster_info=True
    )
    await using(program, plugin, server="https://api.test").credential()
    ((argv, env, interactive),) = program.runs
    assert argv == ("login", "get", "-x")
    assert not interactive
    assert (env["PATH"], env["REGION"]) == ("/bin", "north")
    assert json.loads(env["KUBERNETES_EXEC_INFO"]) == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {"interactive": False, "cluster": {"server": "https://api.test"}},
    }


async def test_cluster_is_told_only_to_a_plugin_that_asks() -> None:
    program = Program(printed(BETA, token="one"))
    await using(program, replace(LOGIN, version=BETA), server="https://api.test").credential()
    spec = json.loads(program.runs[0][1]["KUBERNETES_EXEC_INFO"])["spec"]
    assert spec == {"interactive": False}


def test_what_is_told_is_what_the_kubeconfig_says_of_the_cluster() -> None:
    config = Config(
        "https://api.test",
        trust=TlsConfig(Pem("ca", Sensitive(b"PEM")), server_name="inner"),
        proxy=Sensitive("http://proxy"),
        user=AuthInfo(plugin=replace(LOGIN, extension={"audience": "x"})),
    )
    assert cluster_info(config) == {
        "server": "https://api.test",
        "tls-server-name": "inner",
        "certificate-authority-data": "UEVN",
        "proxy-url": "http://proxy",
        "config": {"audience": "x"},
    }


async def test_credential_is_asked_for_again_when_it_expires() -> None:
    program = Program(printed(token="one", expirationTimestamp=later(300)))
    credentials = using(program)
    await credentials.credential()
    program.ending = printed(token="two", expirationTimestamp=later(600))
    await advance(299)
    assert await header(credentials) == "Bearer one"
    await advance(1)
    assert await header(credentials) == "Bearer two"
    assert len(program.runs) == 2


async def test_many_waiting_requests_run_the_program_once() -> None:
    program = Program(seconds=5)
    credentials = using(program)
    shown = await asyncio.gather(*(credentials.credential() for _ in range(20)))
    assert len({id(credential) for credential in shown}) == 1
    assert len(program.runs) == 1


async def test_cancelled_request_leaves_the_turn_to_the_next() -> None:
    program = Program(seconds=5)
    credentials = using(program)
    first = asyncio.ensure_future(credentials.credential())
    second = asyncio.ensure_future(header(credentials))
    await advance(1)
    first.cancel()
    assert await second == "Bearer one"
    assert len(program.runs) == 2


async def test_refusal_runs_the_program_again_unless_it_ran_since() -> None:
    program = Program()
    credentials = using(program)
    began = monotonic()
    await advance(1)
    await credentials.credential()
    assert credentials.invalidate(began)
    await credentials.credential()
    assert len(program.runs) == 1
    await advance(1)
    program.ending = printed(token="two")
    assert credentials.invalidate(monotonic())
    assert await header(credentials) == "Bearer two"


async def test_certificate_that_did_not_change_stays_the_same_object() -> None:
    pair, other = AUTHORITY.issue("jo"), AUTHORITY.issue("jo")

    def given(which: Any) -> ProcessResult:
        return printed(
            clientCertificateData=which.certificate.reveal().decode(),
            clientKeyData=which.key.reveal().decode(),
            expirationTimestamp=later(60),
        )

    program = Program(given(pair))
    credentials = using(program)
    before = (await credentials.credential()).pair
    assert before == pair
    await advance(60)
    program.ending = given(pair)
    assert (await credentials.credential()).pair is before
    await advance(60)
    program.ending = given(other)
    assert (await credentials.credential()).pair == other


@pytest.mark.parametrize(
    ("ending", "because"),
    [
        (ProcessResult(3, Sensitive(b""), "no ticket"), "it ended with 3: no ticket"),
        (ProcessResult(1, Sensitive(b"sesame")), "it said nothing"),
        (ProcessResult(0, Sensitive(b"sesame")), "did not print an ExecCredential"),
        (printed(BETA, token="sesame"), f"it printed {BETA}"),
        (printed(kind="Pod", token="sesame"), "Pod"),
        (printed(), "neither a token nor a certificate"),
        (printed(token="ses ame"), "one word of printable ASCII"),
        (printed(clientKeyData="sesame"), "not both"),
        (printed(clientCertificateData="sesame", clientKeyData="sesame"), "PEM"),
        (printed(token="sesame", expirationTimestamp="soon"), "did not print an ExecCredential"),
    ],
)
async def test_failing_program_is_explained_without_the_credential(
    ending: ProcessResult, because: str
) -> None:
    with pytest.raises(NoCredentials, match="exec plugin login") as caught:
        await using(Program(ending)).credential()
    assert because in str(caught.value)
    assert "ses" not in str(caught.value)


async def test_complaint_is_shown_without_the_values_of_its_variables() -> None:
    program = Program(ProcessResult(1, Sensitive(b""), "bad key sesame-open in north"))
    env = {"KEY": Sensitive("sesame-open"), "REGION": Sensitive("north")}
    with pytest.raises(NoCredentials, match=r"bad key \*\*\* in north"):
        await using(program, replace(LOGIN, env=env)).credential()


async def test_failure_does_not_spoil_what_comes_after() -> None:
    program = Program(ProcessResult(1, Sensitive(b""), "network is down"))
    credentials = using(program)
    with pytest.raises(NoCredentials):
        await credentials.credential()
    program.ending = printed(token="one")
    assert await header(credentials) == "Bearer one"


async def test_plugin_that_must_ask_a_person_needs_a_terminal() -> None:
    with pytest.raises(NoCredentials, match="no terminal"):
        await using(Program(), replace(LOGIN, interactive="Always")).credential()
    assert await header(using(Program(), replace(LOGIN, interactive="IfAvailable")))


async def test_day_of_expiring_tokens_has_no_refusal() -> None:
    program = Program()
    credentials = using(program)
    for minute in range(24 * 60):
        if minute % 5 == 0:
            program.ending = printed(token=f"t{minute}", expirationTimestamp=later(300))
        assert await header(credentials) == f"Bearer t{minute - minute % 5}"
        await advance(60)
    assert len(program.runs) == 288


SCRIPT = """
import json, os, sys
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
print("a complaint", file=sys.stderr)
if sys.argv[1:] == ["fail"]:
    sys.exit(7)
status = {"token": os.environ["NAME"] + str(info["spec"]["interactive"])}
print(json.dumps({"apiVersion": info["apiVersion"], "kind": info["kind"], "status": status}))
"""


def script(path: Path, *args: str) -> Plugin:
    program = path / "login.py"
    program.write_text(SCRIPT)
    return Plugin(sys.executable, V1, (str(program), *args), {"NAME": Sensitive("jo")})


@pytest.mark.realtime
async def test_real_program_gives_a_token(tmp_path: Path) -> None:
    assert await header(ExecPluginCredential(script(tmp_path), {}, CLOCK)) == "Bearer joFalse"


@pytest.mark.realtime
async def test_real_program_that_fails_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(NoCredentials, match="it ended with 7: a complaint"):
        await ExecPluginCredential(script(tmp_path, "fail"), {}, CLOCK).credential()


@pytest.mark.realtime
async def test_missing_program_shows_how_to_install_it() -> None:
    plugin = Plugin("no-such-program-here", V1, hint="brew install it")
    with pytest.raises(NoCredentials, match="No such file") as caught:
        await ExecPluginCredential(plugin, {}, CLOCK).credential()
    assert "try: brew install it" in str(caught.value)


@pytest.mark.realtime
async def test_program_is_ended_with_the_request_that_waits_for_it(tmp_path: Path) -> None:
    argv = (sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)")
    running = asyncio.ensure_future(module.run_plugin(argv, {}, interactive=False))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(running, 0.5)
    assert running.cancelled()
