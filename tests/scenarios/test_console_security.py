"""What strangers may reach of the console, see of it, and cost it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from node.node_fixture import fetch
from quintant.api.core import Node, ServiceAccount
from quintant.api.rbac import (
    GROUP,
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    RoleRef,
    Subject,
)
from quintant.client.rest import Rest
from quintant.cluster.apiserver.meta.user import User
from quintant.console.console import LIMITS, ConsoleOptions, choose_authenticator, run_console
from quintant.console.server.access import (
    REVIEW_SECONDS,
    KubernetesAuthenticator,
    TokenFileAuthenticator,
)
from quintant.console.server.pages import MOST_REQUESTS, MOST_VIEWERS
from quintant.console.server.sessions import SESSION_SECONDS
from quintant.core.address import BindAddress
from quintant.core.clock import Random, SystemClock
from quintant.core.errors import ConfigError
from quintant.core.object import ObjectMeta
from quintant.core.resource import resource_of
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.api.node import EdgeNode
from quintant.testing import InProcessCluster, named
from testbeds.console import events_of, running_console

TOKEN = "a-token-that-is-long-enough"
HOST = "127.0.0.1"
NAVIGATION = "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_only_get_and_head_are_answered(cluster: InProcessCluster, method: str) -> None:
    async with running_console(cluster) as console:
        answer = await console.get("/api/topics/overview", method)
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


async def test_head_has_no_body(cluster: InProcessCluster) -> None:
    async with running_console(cluster) as console:
        answer = await console.get("/api/topics/overview", "HEAD")
        assert (answer.status, answer.body) == (200, b"")


@pytest.mark.parametrize(
    "path",
    ["/static/../pages.py", "/static/%2e%2e/pages.py", "/static/..%2fpages.py", "/..", "/a/../b",
     "/static/.hidden", "/static/a/b.js", "/objects/a/b", "/nothing", "/static/%00.js",
     "/api/topics/", "/api/topics/no", "/api/topics/object/a/b/c/d/e", "/plain/nothing"],
)  # fmt: skip
async def test_what_leads_nowhere_is_not_found(cluster: InProcessCluster, path: str) -> None:
    async with running_console(cluster) as console:
        assert (await console.get(path)).status == 404


async def test_a_huge_head_is_refused(cluster: InProcessCluster) -> None:
    async with running_console(cluster) as console:
        assert (await console.get("/healthz", x_long="x" * 100_000)).status == 431


@pytest.mark.parametrize(
    "fields",
    [{"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site"},
     {"origin": "http://evil.example"}, {"origin": "null"}],
)  # fmt: skip
async def test_data_are_for_the_consoles_own_pages(
    cluster: InProcessCluster, fields: dict[str, str]
) -> None:
    async with running_console(cluster) as console:
        for path in ("/api/topics/overview", "/api/stream?topic=overview"):
            assert (await console.get(path, **fields)).status == 403
        assert (await console.get("/healthz")).status == 200


async def test_every_answer_says_that_nothing_comes_from_elsewhere(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        for path in ("/plain", "/api/topics/overview", "/nothing", "/healthz", "/login"):
            headers = (await console.get(path)).headers
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'")
            assert "unsafe" not in policy
            assert "http" not in policy
            assert headers["x-content-type-options"] == "nosniff"


async def test_requests_that_wait_for_an_answer_are_only_so_many(
    cluster: InProcessCluster, tmp_path: Path
) -> None:
    class Slow:
        needs_token = True

        async def authenticate(self, token: str) -> None:
            await asyncio.sleep(60)

    async with running_console(cluster, authenticator=Slow()) as console:
        lines = [console.open("/api/topics/overview") for _ in range(MOST_REQUESTS)]
        await asyncio.sleep(1)
        assert (await console.get("/api/topics/overview")).status == 503
        for line in lines:
            line.hang_up()
        await asyncio.sleep(60)
        assert (await console.get("/healthz")).status == 200


@pytest.mark.realtime
async def test_pages_may_be_linked_to_from_other_sites_and_another_host_name_has_nothing() -> None:
    cluster = InProcessCluster()
    options = ConsoleOptions((), BindAddress(HOST, 0), "the-cluster")
    clock, random = SystemClock(), Random(1)
    async with run_console(options, cluster.admin, clock, random) as address:
        own = f"{HOST}:{address.port}"
        linked = f"{own}\r\nSec-Fetch-Site: cross-site\r\n{NAVIGATION}"
        for path in ("/", "/systems/shifu", "/plain"):
            assert (await fetch(HOST, address.port, path, name=linked))[0] == 200
        assert (await fetch(HOST, address.port, "/api/topics/overview", name=linked))[0] == 403
        for path in ("/", "/plain", "/api/topics/overview"):
            status, text = await fetch(HOST, address.port, path, name="evil.example")
            assert (status, "the-cluster" in text) == (403, False)
    await cluster.close()


async def test_there_are_only_so_many_viewers(cluster: InProcessCluster) -> None:
    async with running_console(cluster) as console:
        lines = [console.open("/api/stream?topic=overview") for _ in range(MOST_VIEWERS)]
        await asyncio.sleep(1)
        assert (await console.get("/api/stream?topic=overview")).status == 503
        assert (await console.get("/healthz")).status == 200
        for line in lines:
            line.hang_up()
        await asyncio.sleep(5)
        assert console.console is not None
        line = console.open("/api/stream?topic=overview")
        await asyncio.sleep(1)
        assert events_of(line.got)
        line.hang_up()


async def test_a_thousand_connections_that_say_nothing_are_cut_and_others_are_served(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        lines = [console.server.dial() for _ in range(1000)]
        for line in lines[::2]:
            line.send(b"GET /api/topics/overview HTTP/1.1\r\n")
        await asyncio.sleep(1)
        assert (await console.get("/api/topics/overview")).status == 200
        await asyncio.sleep(LIMITS.first_seconds + 1)
        assert all(line.closed for line in lines)
        assert (await console.get("/api/topics/overview")).status == 200


async def test_it_does_not_start_where_others_reach_it_and_nobody_is_asked(
    cluster: InProcessCluster, tmp_path: Path
) -> None:
    rest = Rest(cluster.admin)
    with pytest.raises(ConfigError, match="everything to everybody"):
        choose_authenticator(ConsoleOptions((), BindAddress("0.0.0.0", 0)), rest)
    with pytest.raises(ConfigError, match="everything to everybody"):
        choose_authenticator(ConsoleOptions((), BindAddress("", 0)), rest)
    for host in ("127.0.0.1", "localhost", "::1"):
        assert not choose_authenticator(ConsoleOptions((), BindAddress(host, 0)), rest).needs_token
    short = tmp_path / "token"
    short.write_text("short")
    with pytest.raises(ConfigError, match="too short"):
        TokenFileAuthenticator(short)


async def test_who_has_no_token_or_a_wrong_one_gets_nothing(
    cluster: InProcessCluster, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    guard = TokenFileAuthenticator(tmp_path / "token")
    async with running_console(cluster, authenticator=guard) as console:
        assert (await console.get("/api/topics/overview")).status == 401
        wrong = await console.get("/api/topics/overview", authorization="Bearer wrong")
        assert (wrong.status, wrong.headers["www-authenticate"]) == (401, "Bearer")
        assert (await console.get("/")).status == 401
        assert (await console.get("/login?token=wrong")).status == 401
        assert (await console.get("/healthz")).status == 200
        right = await console.get("/api/topics/overview", authorization=f"Bearer {TOKEN}")
        assert right.status == 200


async def test_a_token_is_shown_once_and_a_cookie_is_good_for_the_session(
    cluster: InProcessCluster, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    guard = TokenFileAuthenticator(tmp_path / "token")
    async with running_console(cluster, authenticator=guard) as console:
        answer = await console.get(f"/login?token={TOKEN}")
        cookie, *attributes = answer.headers["set-cookie"].split("; ")
        assert (answer.status, answer.headers["location"]) == (303, "/")
        assert {"HttpOnly", "SameSite=Lax"} <= set(attributes)
        assert TOKEN not in cookie
        assert (await console.get("/api/topics/overview", cookie=cookie)).status == 200
        (tmp_path / "token").write_text("another-token-that-is-long")
        assert (await console.get("/api/topics/overview", cookie=cookie)).status == 401


async def test_a_stream_ends_when_its_token_is_replaced_or_the_file_is_gone(
    cluster: InProcessCluster, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    guard = TokenFileAuthenticator(file)
    async with running_console(cluster, authenticator=guard) as console:
        for change in (lambda: file.write_text("another-token-that-is-long"), file.unlink):
            token = file.read_text()
            line = console.open("/api/stream?topic=nodes", authorization=f"Bearer {token}")
            await cluster.advance(2 * REVIEW_SECONDS)
            assert not any(name == "refused" for name, _ in events_of(line.got))
            change()
            await cluster.advance(2 * REVIEW_SECONDS)
            name, refusal = events_of(line.got)[-1]
            assert (name, refusal["status"]) == ("refused", 401)
            answer = await console.get("/api/topics/nodes", authorization=f"Bearer {token}")
            assert answer.status == 401


async def test_a_session_ends_after_half_a_day(cluster: InProcessCluster, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    guard = TokenFileAuthenticator(tmp_path / "token")
    async with running_console(cluster, authenticator=guard) as console:
        answer = await console.get(f"/login?token={TOKEN}")
        cookie = answer.headers["set-cookie"].partition(";")[0]
        await cluster.advance(SESSION_SECONDS - 60)
        assert (await console.get("/api/topics/overview", cookie=cookie)).status == 200
        await cluster.advance(120)
        assert (await console.get("/api/topics/overview", cookie=cookie)).status == 401


async def test_users_of_the_cluster_see_what_they_may_list_and_nothing_else() -> None:
    cluster = InProcessCluster(rbac=True)
    cluster.server.tokens.add("nobodys-token", User("nobody", ("system:authenticated",)))
    await cluster.client.create(Node(metadata=ObjectMeta(name="n")))
    guard = KubernetesAuthenticator(Rest(cluster.admin))
    async with running_console(cluster, transport=cluster.admin, authenticator=guard) as console:
        assert (await console.get("/api/topics/nodes")).status == 401
        for token, names in (("admin", ["n"]), ("nobodys-token", [])):
            answer = await console.get("/api/topics/nodes", authorization=f"Bearer {token}")
            assert list(answer.json()["rows"]) == names
        unknown = await console.get("/api/topics/nodes", authorization="Bearer what")
        assert unknown.status == 401
    await cluster.close()


def may_list(name: str, group: str, *plurals: str) -> tuple[ClusterRole, ClusterRoleBinding]:
    """A role, and its binding to the user of the same name."""
    meta = ObjectMeta(name=name)
    rule = PolicyRule(verbs=("list",), api_groups=(group,), resources=plurals)
    role = RoleRef(kind="ClusterRole", name=name, api_group=GROUP)
    subject = Subject(kind="User", name=name, api_group=GROUP)
    return (
        ClusterRole(metadata=meta, rules=(rule,)),
        ClusterRoleBinding(metadata=meta, role_ref=role, subjects=(subject,)),
    )


async def test_counts_and_names_of_a_system_are_for_who_may_list_all_its_kinds() -> None:
    cluster = InProcessCluster(rbac=True)
    await cluster.install(EdgeDevice, EdgeNode)
    shifu = resource_of(EdgeDevice).group
    for name, plurals in (("some", ["edgedevices"]), ("all", ["edgedevices", "edgenodes"])):
        cluster.server.tokens.add(f"token-of-{name}", User(name, ("system:authenticated",)))
        for obj in may_list(name, shifu, *plurals):
            await cluster.client.create(obj)
    guard = KubernetesAuthenticator(Rest(cluster.admin))
    async with running_console(cluster, transport=cluster.admin, authenticator=guard) as console:
        seen = {}
        for name in ("some", "all"):
            shown = await console.get(
                "/api/topics/overview", authorization=f"Bearer token-of-{name}"
            )
            seen[name] = "system/shifu" in shown.json()["rows"]
        assert seen == {"some": False, "all": True}
    await cluster.close()


async def test_what_a_user_may_see_follows_their_rights_while_a_stream_is_open() -> None:
    cluster = InProcessCluster(rbac=True)
    eve = await cluster.client.create(ServiceAccount(metadata=named("eve")))
    path = "/api/v1/namespaces/default/serviceaccounts/eve/token"
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    reply = await cluster.client.raw("POST", path, body=msgspec.json.encode(asked))
    token = msgspec.json.decode(reply)["status"]["token"]
    await cluster.client.create(Node(metadata=ObjectMeta(name="n")))
    guard = KubernetesAuthenticator(Rest(cluster.admin))
    async with running_console(cluster, transport=cluster.admin, authenticator=guard) as console:
        line = console.open("/api/stream?topic=nodes", authorization=f"Bearer {token}")
        await cluster.advance(2)
        assert last_rows(line.got) == []
        role, binding = may_list("system:serviceaccount:default:eve", "", "nodes")
        for obj in (role, binding):
            await cluster.client.create(obj)
        await cluster.advance(2 * REVIEW_SECONDS)
        assert last_rows(line.got) == ["n"]
        await cluster.client.delete(binding)
        await cluster.advance(2 * REVIEW_SECONDS)
        assert last_rows(line.got) == []
        await cluster.client.delete(eve)
        await cluster.advance(2 * REVIEW_SECONDS)
        name, refusal = events_of(line.got)[-1]
        assert (name, refusal["status"]) == ("refused", 401)
    await cluster.close()


def last_rows(got: bytes) -> list[str]:
    """The rows of the last snapshot in a stream."""
    snapshots = [value for name, value in events_of(got) if name == "snapshot"]
    return list(snapshots[-1]["rows"])
