"""Parameters of the kernel that a pod asks for: which names are refused, and why."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.kinds import POD, POD_SPEC
from conformance.target import Target, causes

INVALID = "FieldValueInvalid"
CASES: list[tuple[list[str], dict[str, Any], list[tuple[int, str]]]] = [
    (["kernel.shmmax", "safe-and-unsafe", "net/ipv4/conf/eno2.100/rp_filter"], {}, []),
    (["foo-", "ok", "bar..", ""], {}, [(0, INVALID), (2, INVALID), (3, "FieldValueRequired")]),
    (["A", "a\n", "a" * 254, "a" * 253], {}, [(0, INVALID), (1, INVALID), (2, INVALID)]),
    (["a.b", "a.b"], {}, [(1, "FieldValueDuplicate")]),
    (["net.core.x", "kernel.sem", "nets"], {"hostNetwork": True}, [(0, INVALID)]),
    (["net/core/x"], {"hostNetwork": True}, [(0, INVALID)]),
    (
        ["net.core.x", "kernel.sem", "fs.mqueue.x", "kernel.semantics"],
        {"hostIPC": True},
        [(1, INVALID), (2, INVALID)],
    ),
    (["net.*"], {"hostNetwork": True}, [(0, INVALID), (0, INVALID)]),
]


@pytest.mark.parametrize(("names", "more", "expected"), CASES)
async def test_what_a_pod_may_ask_of_the_kernel(
    target: Target, names: list[str], more: dict[str, Any], expected: list[tuple[int, str]]
) -> None:
    sysctls = [{"name": name, "value": "1"} for name in names]
    spec = {**POD_SPEC, **more, "securityContext": {"sysctls": sysctls}}
    body = {**POD.object("a"), "spec": spec}
    answer = await target.create(POD.path(target), body, code=422 if expected else 201)
    path = "spec.securityContext.sysctls"
    found = causes(answer) if expected else []
    assert found == [(f"{path}[{at}].name", reason) for at, reason in expected]


async def test_a_refused_name_is_told_its_form(target: Target) -> None:
    spec = {**POD_SPEC, "hostNetwork": True, "securityContext": {"sysctls": [{"name": "net.*"}]}}
    told = await target.create(POD.path(target), {**POD.object("a"), "spec": spec}, code=422)
    form = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
    assert f"must have at most 253 characters and match regex {form}" in told["message"]
    assert "may not be specified when 'hostNetwork' is true" in told["message"]
