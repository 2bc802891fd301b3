"""Flags are those of every lightpeer."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.agents.lightpeer.options import advertised, listening, options, parser


@pytest.mark.parametrize("dashes", ["-", "--"])
def test_flags_have_one_dash_or_two(dashes: str) -> None:
    flags = [f"{dashes}repo=/r", f"{dashes}host=127.0.0.2", f"{dashes}v", f"{dashes}otlp=x:1"]
    read = options(parser("p"), flags)
    assert (read.repo, read.listen, read.verbose) == (Path("/r"), "127.0.0.2:9081", True)
    assert read.advertise == "127.0.0.2:9081"


def test_flag_may_say_true_and_its_value_may_be_a_word_of_its_own() -> None:
    read = options(parser("p"), ["-v=true", "-port", "9090", "-on-join", "merge"])
    assert (read.verbose, read.port, read.merge) == (True, 9090, True)


def test_peer_listens_everywhere_and_on_9081_unless_told_otherwise() -> None:
    read = options(parser("p"), [])
    assert (read.repo, read.listen, read.merge) == (Path("testdata"), "[::]:9081", False)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::"])
def test_peer_on_the_embedded_node_listens_on_its_pods_address_alone(host: str) -> None:
    assert listening(host, {"QUINTANT_POD_IP": "127.1.2.3"}) == "127.1.2.3"
    assert listening(host, {}) == host
    assert listening("127.0.0.9", {"QUINTANT_POD_IP": "127.1.2.3"}) == "127.0.0.9"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("10.0.0.1", "10.0.0.1:9081"),
        ("10.0.0.1:7", "10.0.0.1:7"),
        ("fd00::1", "[fd00::1]:9081"),
        ("[fd00::1]:7", "[fd00::1]:7"),
        ("[fd00::1]", "[fd00::1]:9081"),
    ],
)
def test_advertised_address_has_a_port(given: str, told: str) -> None:
    assert advertised(given, 9081) == told


@pytest.mark.parametrize(
    "given",
    ["::::", "[::::]", "[::::]:9081", ":", "a b", "10.0.0.256", "0.0.0.0", "::", "-", "a..b"],
)
def test_address_that_is_none_is_refused_in_three_lines(given: str) -> None:
    with pytest.raises(SystemExit) as ended:
        options(parser("p"), ["-host=127.0.0.2", f"-advertise={given}"])
    what, because, hint = str(ended.value).splitlines()
    assert what.startswith("cannot ")
    assert "-advertise" in what
    assert because.startswith("because: ")
    assert hint.startswith("try: ")


@pytest.mark.parametrize(
    "flag",
    ["-port=0", "-port=70000", "-port=-1", "-port=x", "-port=", "-advertise=10.0.0.1:70000"],
)
def test_port_that_is_none_is_refused_in_three_lines(flag: str) -> None:
    with pytest.raises(SystemExit) as ended:
        options(parser("p"), ["-host=127.0.0.2", flag])
    what, because, hint = str(ended.value).splitlines()
    assert what.startswith("cannot use port ")
    assert because.startswith("because: ")
    assert hint == "try: -port=9081"
