from __future__ import annotations

import msgspec

from quintant.cluster.apiserver.authorization.policy_rules import RbacRule
from quintant.cluster.apiserver.filters.audit import MOST_USED, Audit, AuditRecord
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.user import admin
from quintant.runtime.manager.permissions import Permission
from unit.cluster.api import CMS, Api, api, config_map, server
from unit.cluster.rbac_server import RbacServer, rule


async def test_every_request_is_remembered_with_who_and_what_and_how_it_went() -> None:
    running = server()
    running.tokens.add("root", admin("root"))
    client = Api(running, "root")
    await client.create(CMS, config_map("a"))
    await client.get(f"{CMS}/b", code=404)
    await client.merge("/api/v1/namespaces/default/pods/p/status", {}, code=404)
    await client.get("/version")
    assert list(running.audit) == [
        AuditRecord("root", "create", "", "configmaps", "default", "", 201),
        AuditRecord("root", "get", "", "configmaps", "default", "b", 404),
        AuditRecord("root", "patch", "", "pods/status", "default", "p", 404),
        AuditRecord("root", "get", "", "/version", "", "", 200),
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
        log.record("alice", RequestInfo("get", "/x"), code)
    log.record("bob", RequestInfo("get", "/x"), 203)
    assert [record.code for record in log] == [202, 203]
    assert [record.code for record in log.by("bob")] == [203]
    log.clear()
    assert len(log) == 0


async def test_the_permissions_somebody_needs_are_those_they_made_use_of() -> None:
    rbac = RbacServer()
    everything = rule("*", "*", "*")
    await rbac.grant("ann", everything)
    user, log = rbac.user("ann"), rbac.server.audit
    await user.apply(f"{CMS}/a", config_map("a"), "ann", code=201)
    await user.get(f"{CMS}/a")
    await user.merge(f"{CMS}/a", {"data": {"k": "v"}})
    await user.get("/api/v1/nodes", code=403)
    assert log.used("ann") == {
        Permission("", "configmaps", "patch"),
        Permission("", "configmaps", "create"),
        Permission("", "configmaps", "get"),
    }
    (smallest,) = log.sufficient("ann")
    assert (smallest.resources, smallest.verbs) == (("configmaps",), ("create", "get", "patch"))


async def test_what_of_a_role_is_never_used_can_be_told() -> None:
    rbac = RbacServer()
    granted = rule("get delete", "configmaps pods/status"), rule("get", "secrets")
    await rbac.grant("ann", *granted)
    user = rbac.user("ann")
    await user.get(f"{CMS}/a", code=404)
    await user.get("/api/v1/namespaces/default/pods/p/status", code=404)
    rules = msgspec.convert(granted, list[RbacRule])
    assert [str(each) for each in rbac.server.audit.unused("ann", rules)] == [
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["delete"]}',
        '{APIGroups:[""], Resources:["pods/status"], Verbs:["delete"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    ]


def test_a_wide_rule_is_used_by_whatever_it_covers() -> None:
    log = Audit()
    log.record_allowed("ann", RequestInfo("get", "", resource="pods", name="p"))
    log.record_allowed("ann", RequestInfo("get", "/healthz"))
    everything = RbacRule(("*",), ("*",), ("*",))
    named = RbacRule(("get",), ("",), ("pods",), ("other",))
    paths = RbacRule(("get",), non_resource_urls=("/healthz", "/metrics"))
    assert log.unused("ann", [everything, named, paths]) == [
        RbacRule(("get",), non_resource_urls=("/metrics",))
    ]
    assert log.unused("bob", [everything]) == [everything]


def test_odd_paths_fill_no_memory() -> None:
    log = Audit()
    for number in range(MOST_USED + 10):
        log.record_allowed("ann", RequestInfo("get", f"/{number}"))
    assert len(log.used("ann")) == MOST_USED
