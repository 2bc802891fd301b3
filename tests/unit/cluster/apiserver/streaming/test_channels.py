"""What clients and servers say on the channels of a session."""

from __future__ import annotations

import msgspec
import pytest

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import TerminalSize
from quintant.cluster.apiserver.meta.status import internal_error
from quintant.cluster.apiserver.streaming.channels import (
    error_status,
    exit_status,
    read_size,
    success_status,
)


@pytest.mark.parametrize(
    "payload",
    [b"", b"x", b"{}", b"[1,2]", b'{"Width":0,"Height":3}', b'{"Width":1e99,"Height":3}',
     b'{"Width":70000,"Height":3}', b'{"Width":-1,"Height":3}', b"[" * 100_000, b"\xff"],
)  # fmt: skip
def test_a_size_that_is_none_changes_nothing(payload: bytes) -> None:
    assert read_size(payload) is None


def test_a_size_is_read_as_clients_write_it() -> None:
    assert read_size(b'{"Width":80,"Height":24}') == TerminalSize(80, 24)


def test_an_end_is_told_by_a_status() -> None:
    assert msgspec.json.decode(success_status())["status"] == "Success"
    failed = msgspec.json.decode(exit_status(["sh", "-c", "x"], 7))
    assert failed["message"] == (
        "command terminated with non-zero exit code: error executing command [sh -c x], exit code 7"
    )
    assert failed["details"] == {"causes": [{"reason": "ExitCode", "message": "7"}]}
    assert msgspec.json.decode(error_status(internal_error("x")))["code"] == 500
