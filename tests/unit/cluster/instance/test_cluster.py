"""A whole cluster on a real socket, reached by its own kubeconfig."""

from __future__ import annotations

import asyncio
import stat
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from msgspec.structs import replace

import patience
from quintant import Config
from quintant.client.config.tls import Pem
from quintant.client.config.user import AuthInfo, Impersonate
from quintant.client.http.transport import HttpTransport
from quintant.cluster.apiserver.server.https import LOOPBACK
from quintant.cluster.instance.cluster import (
    Cluster,
    ClusterConfig,
    is_loopback,
    persistent,
    run_cluster,
    save_kubeconfig,
)
from quintant.cluster.instance.kubeconfig import usual_path
from quintant.cluster.instance.pki import ClusterKeys
from quintant.core.address import BindAddress
from quintant.core.errors import ConfigError, TransportError
from quintant.keys.authority import Authority, Validity, new_key, private_pem
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from unit.cluster.api import CMS, PODS, JsonObject, Requests, config_map

pytestmark = pytest.mark.realtime

ANYWHERE = ClusterConfig(BindAddress(LOOPBACK, 0))
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
WITHIN = 30.0
"""Seconds, on a loaded machine."""
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@asynccontextmanager
async def reached(config: Config, user: AuthInfo | None = None) -> AsyncIterator[Requests]:
    transport = HttpTransport(config if user is None else replace(config, user=user))
    try:
        yield Requests(transport)
    finally:
        await transport.close()


def way(cluster: Cluster, folder: Path) -> Config:
    save_kubeconfig(cluster, folder / "kubeconfig")
    return Config.load(folder / "kubeconfig")


def certified(pair: KeyPair, other: Impersonate = Impersonate()) -> AuthInfo:
    certificate, key = Pem("certificate", pair.certificate), Pem("key", pair.key)
    return AuthInfo(certificate=certificate, key=key, impersonate=other)


async def whoami(requests: Requests) -> JsonObject:
    found: JsonObject = (await requests.create(SELF, {}))["status"]["userInfo"]
    return found


async def issued(admin: Requests, name: str) -> JsonObject:
    """The status of a request as soon as it has a certificate."""
    async with asyncio.timeout(patience.seconds(WITHIN)):
        while True:
            found: JsonObject = (await admin.get(f"{REQUESTS}/{name}"))["status"]
            if "certificate" in found:
                return found
            await asyncio.sleep(0.02)


async def pods_of_number(admin: Requests, number: int) -> list[str]:
    """The names of pods as soon as there are so many."""
    async with asyncio.timeout(patience.seconds(WITHIN)):
        while True:
            names = await admin.names(PODS)
            if len(names) == number:
                return names
            await asyncio.sleep(0.02)


async def test_a_certificate_that_was_approved_is_believed(tmp_path: Path) -> None:
    key = new_key()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "alice")])
    csr = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    request = b64encode(csr.public_bytes(Encoding.PEM)).decode()
    spec = {
        "request": request,
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
    }
    approved = {"status": {"conditions": [{"type": "Approved", "status": "True"}]}}
    async with run_cluster(replace(ANYWHERE, controllers=True)) as cluster:
        config = way(cluster, tmp_path)
        async with reached(config) as admin:
            await admin.create(REQUESTS, {"metadata": {"name": "alice"}, "spec": spec})
            await admin.merge(f"{REQUESTS}/alice/approval", approved)
            status = await issued(admin, "alice")
        pair = KeyPair(Sensitive(b64decode(status["certificate"])), private_pem(key))
        async with reached(config, certified(pair)) as alice:
            assert (await whoami(alice))["username"] == "alice"


async def test_its_kubeconfig_makes_an_administrator(tmp_path: Path) -> None:
    async with run_cluster(ANYWHERE) as cluster, reached(way(cluster, tmp_path)) as admin:
        assert (await whoami(admin))["groups"] == ["system:masters", "system:authenticated"]
        await admin.create(CMS, config_map("a"))
    mode = (tmp_path / "kubeconfig").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


async def test_with_controllers_a_deployment_makes_pods(tmp_path: Path) -> None:
    plan = replace(ANYWHERE, controllers=True)
    async with run_cluster(plan) as cluster, reached(way(cluster, tmp_path)) as admin:
        labels = {"app": "a"}
        template = {"metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "main", "image": "one"}]}}  # fmt: skip
        spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
        await admin.create(DEPLOYMENTS, {"metadata": {"name": "a"}, "spec": spec})
        async with asyncio.timeout(WITHIN), admin.watch(PODS) as pods:
            assert [(await pods.told(WITHIN))[0] for _ in range(2)] == ["ADDED", "ADDED"]


async def test_controllers_go_on_from_what_was_restored(tmp_path: Path) -> None:
    plan = replace(ANYWHERE, controllers=True)
    async with run_cluster(plan) as cluster, reached(way(cluster, tmp_path)) as admin:
        labels = {"app": "a"}
        template = {"metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "main", "image": "one"}]}}  # fmt: skip
        spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
        await admin.create(DEPLOYMENTS, {"metadata": {"name": "a"}, "spec": spec})
        async with asyncio.timeout(patience.seconds(WITHIN)), admin.watch(PODS) as pods:
            restored = sorted([(await pods.told(WITHIN))[1] for _ in range(2)])
        saved = await cluster.snapshots.save()
        await admin.delete(f"{DEPLOYMENTS}/a", {"propagationPolicy": "Background"})
        await pods_of_number(admin, 0)
        await cluster.snapshots.restore(saved)
        # Whoever remembered that the owners are gone would delete the pods, and others would come.
        await admin.merge(f"{DEPLOYMENTS}/a", {"spec": {"replicas": 3}})
        assert {*restored} < {*await pods_of_number(admin, 3)}


async def test_without_a_certificate_one_is_nobody(tmp_path: Path) -> None:
    async with (
        run_cluster(ANYWHERE) as cluster,
        reached(way(cluster, tmp_path), AuthInfo()) as nobody,
    ):
        assert (await nobody.send("GET", "/readyz")).status == 200
        refused = await nobody.get(CMS, code=403)
        assert 'User "system:anonymous"' in refused["message"]


async def test_no_header_stands_for_a_certificate(tmp_path: Path) -> None:
    forged = {
        "x-remote-user": "admin",
        "x-remote-group": "system:masters",
        "x-forwarded-client-cert": "Subject=CN=admin,O=system:masters",
        "x-client-cert": "admin",
        "peer": "admin",
    }
    async with (
        run_cluster(ANYWHERE) as cluster,
        reached(way(cluster, tmp_path), AuthInfo()) as nobody,
    ):
        refused = await nobody.get(CMS, code=403, headers=forged)
        assert 'User "system:anonymous"' in refused["message"]


async def test_a_certificate_of_another_authority_is_not_believed(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    term = Validity(now, now + timedelta(days=1))
    stranger = Authority.make("stranger", term).client("admin", ["system:masters"], term)
    async with (
        run_cluster(ANYWHERE) as cluster,
        reached(way(cluster, tmp_path), certified(stranger)) as bad,
    ):
        with pytest.raises(TransportError):
            await bad.send("GET", "/readyz")


async def test_headers_that_come_several_times_keep_their_values_apart(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    roots = ClusterKeys.generate(now)
    root = roots.authority.client(
        "root", ["system:masters"], Validity(now, now + timedelta(days=1))
    )
    who = Impersonate("ann", groups=("crew", "deck, aft"), extra={"a/b": ("1", "2")})
    async with run_cluster(ClusterConfig(BindAddress(LOOPBACK, 0), roots)) as cluster:
        config = way(cluster, tmp_path)
        async with reached(config, certified(root, who)) as ann:
            found = await whoami(ann)
    assert found["groups"] == ["crew", "deck, aft", "system:authenticated"]
    assert found["extra"] == {"a/b": ["1", "2"]}


async def test_a_client_that_never_finishes_its_handshake_stalls_nobody(tmp_path: Path) -> None:
    async with run_cluster(ANYWHERE) as cluster, AsyncExitStack() as stack:
        for _ in range(20):
            _, writer = await asyncio.open_connection(LOOPBACK, cluster.address.port)
            stack.callback(writer.close)
            writer.write(b"\x16\x03\x01")
        async with asyncio.timeout(10), reached(way(cluster, tmp_path)) as admin:
            await admin.get("/api/v1/namespaces")


async def test_a_taken_port_is_explained() -> None:
    async with run_cluster(ANYWHERE) as cluster:
        with pytest.raises(ConfigError) as refused:
            async with run_cluster(ClusterConfig(cluster.address)):
                pass
    assert refused.value.what == f"cannot listen on {cluster.address}"
    assert refused.value.because == "another process does"


async def test_a_kept_cluster_goes_on_with_its_objects_tokens_and_kubeconfigs(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data"
    async with persistent(ANYWHERE, folder) as plan, run_cluster(plan) as cluster:
        config, port = way(cluster, tmp_path), cluster.address.port
        async with reached(config) as admin:
            path = "/api/v1/namespaces/default/serviceaccounts"
            await admin.create(path, {"metadata": {"name": "bot"}})
            made = await admin.create(f"{path}/bot/token", {})
    token = made["status"]["token"]
    again = ClusterConfig(BindAddress(LOOPBACK, port))
    async with persistent(again, folder) as plan, run_cluster(plan):
        async with reached(config) as admin:
            await admin.get(f"{path}/bot")
        async with reached(config, AuthInfo(token=Sensitive(token))) as bot:
            assert (await whoami(bot))["username"] == "system:serviceaccount:default:bot"


async def test_one_folder_is_for_one_cluster(tmp_path: Path) -> None:
    async with persistent(ANYWHERE, tmp_path):
        with pytest.raises(ConfigError) as refused:
            async with persistent(ANYWHERE, tmp_path):
                pass
    assert refused.value.because == "another server has it open"
    assert refused.value.hint


async def test_somebody_elses_kubeconfig_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("apiVersion: v1\nkind: Config\nclusters: [{name: production}]\n")
    async with run_cluster(ANYWHERE) as cluster:
        with pytest.raises(ConfigError, match="cannot write the kubeconfig"):
            save_kubeconfig(cluster, path)
        assert "production" in path.read_text()
        own = tmp_path / "own"
        save_kubeconfig(cluster, own)
        save_kubeconfig(cluster, own)


def test_only_loopback_is_for_this_machine_alone() -> None:
    for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost"):
        assert is_loopback(host)
    for host in ("", "0.0.0.0", "::", "192.0.2.1", "example.com"):
        assert not is_loopback(host)


def test_the_usual_place_is_where_the_system_wants_it() -> None:
    home = {"HOME": "/people/ann"}
    assert usual_path(home, 1) == Path("/people/ann/.local/state/quintant/kubeconfig-1")
    state = home | {"XDG_STATE_HOME": "/state"}
    assert usual_path(state, 1) == Path("/state/quintant/kubeconfig-1")
    runtime = state | {"XDG_RUNTIME_DIR": "/run/user/1"}
    assert usual_path(runtime, 1) == Path("/run/user/1/quintant/kubeconfig-1")


async def test_on_every_interface_this_machine_still_uses_loopback() -> None:
    async with run_cluster(ClusterConfig(BindAddress("0.0.0.0", 0))) as cluster:
        assert cluster.url == f"https://127.0.0.1:{cluster.address.port}"
        assert not cluster.private
