"""A command that starts a server says where it is, as to a shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.servers.command import named_kubeconfig, server_words


def test_the_kubeconfig_is_the_file_of_a_line_for_a_shell(tmp_path: Path) -> None:
    file = tmp_path / "a kubeconfig"
    assert named_kubeconfig(f"export KUBECONFIG='{file}'") is None
    file.touch()
    assert named_kubeconfig(f"export KUBECONFIG='{file}'") == file
    assert named_kubeconfig(f"KUBECONFIG='{file}'") == file
    for other in (f"export KUBECONFIG='{file}", f"kubeconfig: {file}", "KUBECONFIG=", ""):
        assert named_kubeconfig(other) is None


@pytest.mark.parametrize("text", ["", "no-such-program up", "sh -c 'up"])
def test_what_cannot_be_run_is_an_error_before_any_process_starts(text: str) -> None:
    with pytest.raises(ConfigError, match="cannot start a server with"):
        server_words(text)
