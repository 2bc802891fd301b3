"""The pair of programs, as a test kit starts, asks and ends it."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import patience
from quintant import Config
from quintant.cli.envtest.assets import write_assets
from quintant.client.http.transport import HttpTransport
from quintant.die_with_parent import die_with_parent
from quintant.keys.authority import Authority, Validity, new_key, private_pem
from unit.cluster.api import CMS, CRDS, PODS, Requests, config_map, foo_definition, pod
from unit.cluster.certificates import issue

pytestmark = pytest.mark.realtime

NOW = datetime.now(UTC)
TERM = Validity(NOW, NOW + timedelta(days=1))
POLL_SECONDS = 0.05
START_SECONDS = 20.0
"""For a program to answer, or to end, on a quiet machine."""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Pair:
    """Both programs with one folder for everything."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port, self.etcd_port = folder, free_port(), free_port()
        self.assets = write_assets(folder / "assets", {"PATH": ""})
        clients = Authority.make("clients", TERM)
        admin = clients.client("admin", ["system:masters"], TERM)
        for name, text in {
            "client-ca.crt": clients.certificate,
            "admin.crt": admin.certificate.reveal(),
            "admin.key": admin.key.reveal(),
            "sa.key": private_pem(new_key()).reveal(),
            "tokens.csv": b'secret,ann,1,"readers,writers"\n',
        }.items():
            (folder / name).write_bytes(text)

    @property
    def etcd_flags(self) -> list[str]:
        url = f"http://127.0.0.1:{self.etcd_port}"
        return [f"--listen-client-urls={url}", f"--data-dir={self.folder / 'etcd'}"]

    @property
    def flags(self) -> list[str]:
        return [
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            f"--secure-port={self.port}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={self.folder / 'certificates'}",
            f"--client-ca-file={self.folder / 'client-ca.crt'}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            f"--service-account-issuer=https://127.0.0.1:{self.port}/",
            f"--service-account-key-file={self.folder / 'sa.key'}",
            f"--service-account-signing-key-file={self.folder / 'sa.key'}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
        ]

    @contextmanager
    def started(self, name: str, *flags: str) -> Iterator[subprocess.Popen[bytes]]:
        """A program, ended by its own id."""
        command = die_with_parent([str(self.assets / name), *flags])
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            try:
                yield process
            finally:
                process.terminate()

    def config(self, token: str = "") -> Config:
        """The administrator, or who has a token; the server made its certificate itself."""
        key_pair = {
            "client-certificate": str(self.folder / "admin.crt"),
            "client-key": str(self.folder / "admin.key"),
        }
        document = {
            "current-context": "a",
            "clusters": [
                {
                    "name": "a",
                    "cluster": {
                        "server": f"https://127.0.0.1:{self.port}",
                        "certificate-authority": str(self.folder / "certificates/apiserver.crt"),
                    },
                }
            ],
            "users": [{"name": "a", "user": {"token": token} if token else key_pair}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        }
        path = self.folder / "kubeconfig"
        path.write_text(json.dumps(document))
        return Config.load(path)

    @asynccontextmanager
    async def requests(self, token: str = "") -> AsyncIterator[Requests]:
        """Requests, once the server answers."""
        await self.ready()
        transport = HttpTransport(self.config(token))
        try:
            yield Requests(transport)
        finally:
            await transport.close()

    async def ready(self) -> None:
        """Wait until the server listens: its certificate is there by then."""
        async with patience.within(START_SECONDS):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                except OSError:
                    await asyncio.sleep(POLL_SECONDS)
                    continue
                writer.close()
                return


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


async def test_objects_outlive_a_server_as_long_as_their_etcd_is_there(pair: Pair) -> None:
    with pair.started("etcd", *pair.etcd_flags) as etcd:
        with pair.started("kube-apiserver", *pair.flags) as server:
            async with pair.requests() as admin:
                await admin.create(CRDS, foo_definition())
                made = await admin.create(CMS, config_map("a", {"x": "y"}))
                await admin.create(PODS, pod("p"))
                services = await admin.get("/api/v1/namespaces/default/services/kubernetes")
            server.terminate()
            assert server.wait(patience.seconds(START_SECONDS)) == 0
        assert services["spec"]["clusterIP"] == "10.0.0.1"
        with pair.started("kube-apiserver", *pair.flags):
            async with pair.requests() as admin:
                again = await admin.get(f"{CMS}/a")
        assert again["metadata"]["uid"] == made["metadata"]["uid"]
        etcd.terminate()
        assert etcd.wait(patience.seconds(START_SECONDS)) == 0


async def test_users_are_those_of_the_flags(pair: Pair) -> None:
    reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    with (
        pair.started("etcd", *pair.etcd_flags),
        pair.started("kube-apiserver", *pair.flags),
    ):
        async with pair.requests("secret") as ann:
            (found,) = [(await ann.create(reviews, {}))["status"]["userInfo"]]
            await ann.get(CMS, code=403)
        assert (found["username"], found["uid"]) == ("ann", "1")
        assert found["groups"] == ["readers", "writers", "system:authenticated"]
        async with pair.requests() as admin:
            await admin.create(accounts, {"metadata": {"name": "bot"}})
            token = (await admin.create(f"{accounts}/bot/token", {}))["status"]["token"]
        async with pair.requests(token) as bot:
            user = (await bot.create(reviews, {}))["status"]["userInfo"]
        assert user["username"] == "system:serviceaccount:default:bot"
        claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
        assert claims["iss"] == f"https://127.0.0.1:{pair.port}/"


async def test_certificates_that_sign_themselves_are_believed_as_by_the_real_one(
    pair: Pair,
) -> None:
    """As the kit of the Java operator SDK makes them: no authority, no usages."""
    client = issue("jenvtest", organization="system:masters")
    serving = issue("example.org", names=("127.0.0.1", "kubernetes"))
    folder = pair.folder / "certificates"
    folder.mkdir()
    for path, text in {
        pair.folder / "client-ca.crt": client.pem,
        pair.folder / "admin.crt": client.pem,
        pair.folder / "admin.key": client.serving().key.reveal(),
        folder / "apiserver.crt": serving.pem,
        folder / "apiserver.key": serving.serving().key.reveal(),
        pair.folder / "sa.key": serving.serving().key.reveal(),
    }.items():
        path.write_bytes(text)
    with (
        pair.started("etcd", *pair.etcd_flags, f"--wal-dir={pair.folder / 'wal'}"),
        pair.started("kube-apiserver", *pair.flags, "--service-account-issuer=/no/issuer"),
    ):
        async with pair.requests() as admin:
            await admin.create(CMS, config_map("a"))


async def test_volumes_are_held_as_a_real_server_holds_them(pair: Pair) -> None:
    claims = "/api/v1/namespaces/default/persistentvolumeclaims"
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    with (
        pair.started("etcd", *pair.etcd_flags),
        pair.started("kube-apiserver", *pair.flags),
    ):
        async with pair.requests() as admin:
            made = await admin.create(claims, {"metadata": {"name": "a"}, "spec": spec})
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]


def ended(pair: Pair, *flags: str) -> tuple[int, str]:
    """How a server ends that cannot start."""
    ran = subprocess.run(
        [pair.assets / "kube-apiserver", *flags], capture_output=True, text=True, check=False
    )
    return ran.returncode, ran.stderr


async def test_a_port_that_is_taken_is_told(pair: Pair) -> None:
    with pair.started("etcd", *pair.etcd_flags), socket.socket() as taken:
        taken.bind(("127.0.0.1", pair.port))
        taken.listen()
        code, text = await asyncio.to_thread(ended, pair, *pair.flags)
    assert code == 1
    assert f"--secure-port: cannot listen on 127.0.0.1:{pair.port}" in text
    assert "Traceback" not in text


async def test_a_second_server_over_the_same_objects_is_refused(pair: Pair) -> None:
    other = [flag for flag in pair.flags if not flag.startswith("--secure-port")]
    with (
        pair.started("etcd", *pair.etcd_flags),
        pair.started("kube-apiserver", *pair.flags),
    ):
        await pair.ready()
        code, text = await asyncio.to_thread(ended, pair, *other, f"--secure-port={free_port()}")
    assert code == 1
    assert "--etcd-servers" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("name", "flag"),
    [
        ("client-ca.crt", "--client-ca-file"),
        ("tokens.csv", "--token-auth-file"),
        ("sa.key", "--service-account-signing-key-file"),
    ],
)
def test_a_file_that_is_not_there_is_named_with_its_flag(pair: Pair, name: str, flag: str) -> None:
    (pair.folder / name).unlink()
    code, text = ended(pair, *pair.flags)
    assert code == 1
    assert f"Error: {flag}: open {pair.folder / name}: no such file or directory" in text


@pytest.mark.parametrize(
    ("name", "flag"),
    [("client-ca.crt", "--client-ca-file"), ("sa.key", "--service-account-key-file")],
)
async def test_a_file_of_something_else_is_named_with_its_flag(
    pair: Pair, name: str, flag: str
) -> None:
    (pair.folder / name).write_bytes(b"nonsense")
    with pair.started("etcd", *pair.etcd_flags):
        code, text = await asyncio.to_thread(ended, pair, *pair.flags)
    assert code == 1
    assert flag in text
    assert "Traceback" not in text


@pytest.mark.parametrize("missing", ["apiserver.crt", "apiserver.key"])
def test_half_a_serving_certificate_is_refused(pair: Pair, missing: str) -> None:
    folder = pair.folder / "certificates"
    folder.mkdir()
    for name in ("apiserver.crt", "apiserver.key"):
        if name != missing:
            (folder / name).write_bytes(b"nonsense")
    code, text = ended(pair, *pair.flags)
    assert code == 1
    assert f"--cert-dir: open {folder / missing}: no such file or directory" in text


def test_an_etcd_on_a_taken_port_says_so(pair: Pair) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", pair.etcd_port))
        taken.listen()
        ran = subprocess.run(
            [pair.assets / "etcd", *pair.etcd_flags], capture_output=True, text=True, check=False
        )
    assert ran.returncode == 1
    assert "--listen-client-urls: cannot listen on" in ran.stderr
