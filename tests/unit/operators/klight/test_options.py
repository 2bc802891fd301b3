"""Settings as text, from the environment and in the style of Go."""

from __future__ import annotations

import pytest

from quintant.core.errors import ConfigError
from quintant.operators.klight.options import Options, from_arguments, from_environment


def test_flags_of_the_original_are_understood() -> None:
    flags = from_arguments(["-inCluster=true", "-kubeconfig", "/etc/k", "-master=http://x:1"])
    assert (flags.in_cluster, flags.kubeconfig, flags.master) == (True, "/etc/k", "http://x:1")
    assert from_arguments(["-inCluster"]).in_cluster is True
    assert from_arguments([]).in_cluster is None


def test_every_option_is_a_flag_with_one_dash_or_two() -> None:
    flags = from_arguments(
        ["--probe-interval", "500ms", "-repair=auto", "--infer-port", "-workers=3"]
    )
    assert flags.options == Options(probe_interval=0.5, repair="auto", infer_port=True, workers=3)
    assert from_arguments(["--namespaces=a,b"]).namespaces == ("a", "b")


def test_every_option_is_a_variable() -> None:
    given = {"KLIGHT_NETWORK_SCOPE": "cluster", "KLIGHT_DOWN_AFTER": "1m", "KLIGHT_OTHER": "x"}
    assert from_environment(given) == Options(network_scope="cluster", down_after=60.0)


@pytest.mark.parametrize(
    "argument",
    ["--repair=maybe", "--workers=0", "--workers=x", "--settle=soon", "--settle=0", "-inCluster=5",
     "--unknown=1", "word", "-default-port=0", "-default-port=99999", "-label=", "-label=a b",
     "-label=/a"],
)  # fmt: skip
def test_nonsense_is_named(argument: str) -> None:
    with pytest.raises(ConfigError, match=argument.lstrip("-").partition("=")[0]):
        from_arguments([argument])


@pytest.mark.parametrize("argument", ["-default-port=99999", "-label="])
def test_what_cannot_be_used_is_told_in_three_lines(argument: str) -> None:
    with pytest.raises(ConfigError) as refused:
        from_arguments([argument])
    starts = [line.partition(":")[0] for line in str(refused.value).splitlines()[1:]]
    assert starts == ["because", "try"]
