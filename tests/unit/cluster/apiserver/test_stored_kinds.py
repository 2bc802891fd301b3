"""Promises about kinds that are stored for others to act on."""

from __future__ import annotations

from typing import Any

import pytest

from unit.cluster.api import JsonObject, api

LABELS = {"app": "a"}
TEMPLATE = {
    "metadata": {"labels": LABELS},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
TABLE = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}


def path(plural: str, api_version: str = "v1") -> str:
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    return f"{root}/namespaces/default/{plural}"


async def row(
    plural: str, obj: JsonObject, api_version: str = "v1", status: Any = None
) -> list[Any]:
    """The cells of an object without its name and age."""
    client, where = api(), path(plural, api_version)
    await client.create(where, {"metadata": {"name": "a"}, **obj})
    if status:
        await client.merge(f"{where}/a/status", {"status": status})
    table = await client.get(f"{where}/a", headers=TABLE)
    cells: list[Any] = table["rows"][0]["cells"]
    return cells[1:]


async def test_a_quota_shows_what_is_used() -> None:
    status = {"hard": {"pods": "9", "limits.cpu": "4"}, "used": {"pods": "2"}}
    cells = await row("resourcequotas", {"spec": {"hard": {"pods": "9"}}}, status=status)
    assert cells[:2] == ["pods: 2/9", "limits.cpu: 0/4"]


async def test_an_ingress_shows_its_hosts() -> None:
    rules = [{"host": f"{name}.dev"} for name in "abcd"]
    spec = {"rules": rules, "tls": [{"hosts": ["a.dev"]}]}
    cells = await row("ingresses", {"spec": spec}, "networking.k8s.io/v1")
    assert cells[:4] == ["<none>", "a.dev,b.dev,c.dev + 1 more...", "", "80, 443"]


async def test_a_network_policy_is_about_what_it_says_or_else_what_it_lets_in() -> None:
    client, where = api(), path("networkpolicies", "networking.k8s.io/v1")
    made = await client.create(where, {"metadata": {"name": "a"}, "spec": {"egress": [{}]}})
    assert made["spec"]["policyTypes"] == ["Ingress", "Egress"]


async def test_a_replication_controller_selects_by_its_template() -> None:
    client, where = api(), path("replicationcontrollers")
    made = await client.create(where, {"metadata": {"name": "a"}, "spec": {"template": TEMPLATE}})
    assert (made["spec"]["selector"], made["metadata"]["labels"]) == (LABELS, LABELS)
    scale = await client.get(f"{where}/a/scale")
    assert scale["status"]["selector"] == "app=a"


async def test_the_most_a_container_may_have_is_its_limit_and_its_request() -> None:
    client, where = api(), path("limitranges")
    item = {"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1", "memory": "1Mi"}}
    made = await client.create(where, {"metadata": {"name": "a"}, "spec": {"limits": [item]}})
    (found,) = made["spec"]["limits"]
    assert found["default"] == {"cpu": "2"}
    assert found["defaultRequest"] == {"cpu": "2", "memory": "1Mi"}


@pytest.mark.parametrize("plural", ["podtemplates", "replicationcontrollers"])
async def test_a_template_is_completed_wherever_it_is(plural: str) -> None:
    client = api()
    body: JsonObject = {"template": TEMPLATE}
    obj = body if plural == "podtemplates" else {"spec": body}
    made = await client.create(path(plural), {"metadata": {"name": "a"}, **obj})
    template = (made if plural == "podtemplates" else made["spec"])["template"]
    assert template["spec"]["restartPolicy"] == "Always"


async def test_autoscaling_is_discovered_newest_first() -> None:
    group = await api().get("/apis/autoscaling")
    assert [each["version"] for each in group["versions"]] == ["v2", "v1"]
    assert group["preferredVersion"]["version"] == "v2"
