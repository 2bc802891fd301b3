"""Which parts of a command line are hidden."""

from __future__ import annotations

import pytest

from quintant.cluster.host.command_line import hidden_spans


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ([b"up", b"--kubeconfig", b"/k", b"--x"], [b"up", b"--kubeconfig", b"**", b"--x"]),
        ([b"up", b"--kubeconfig=/k"], [b"up", b"--kubeconfig=**"]),
        ([b"up", b"/k2", b"a/k"], [b"up", b"/k2", b"a/k"]),
        ([b"/k", b"/k"], [b"**", b"**"]),
        ([], []),
    ],
)
def test_only_the_values_are_hidden(words: list[bytes], shown: list[bytes]) -> None:
    line = bytearray(b"\0".join(words))
    for at, size in hidden_spans(bytes(line), [b"/k"]):
        line[at : at + size] = b"*" * size
    assert bytes(line) == b"\0".join(shown)
