from __future__ import annotations

from quintant.cluster.audit import Audit, Record
from quintant.cluster.auth import admin
from quintant.cluster.routes import Route
from unit.cluster.api import CMS, Api, api, config_map, server


async def test_every_request_is_remembered_with_who_and_what_and_how_it_went() -> None:
    running = server()
    running.tokens.add("root", admin("root"))
    client = Api(running, "root")
    await client.create(CMS, config_map("a"))
    await client.get(f"{CMS}/b", code=404)
    await client.merge("/api/v1/namespaces/default/pods/p/status", {}, code=404)
    await client.get("/version")
    assert list(running.audit) == [
        Record("root", "create", "", "configmaps", "default", "", 201),
        Record("root", "get", "", "configmaps", "default", "b", 404),
        Record("root", "patch", "", "pods/status", "default", "p", 404),
        Record("root", "get", "", "/version", "", "", 200),
    ]


async def test_watches_and_refused_users_are_remembered_too() -> None:
    client = api()
    async with client.watch(CMS):
        assert [record.verb for record in client.server.audit] == ["watch"]
    await Api(client.server, "wrong").get(CMS, code=401)
    assert [(record.user, record.code) for record in client.server.audit] == [
        ("system:anonymous", 200),
        ("", 401),
    ]


def test_the_log_is_bounded_and_can_be_cleared() -> None:
    log = Audit(keep=2)
    for code in (200, 201, 202):
        log.note("alice", Route("get", "/x"), code)
    log.note("bob", Route("get", "/x"), 203)
    assert [record.code for record in log] == [202, 203]
    assert [record.code for record in log.by("bob")] == [203]
    log.clear()
    assert len(log) == 0
