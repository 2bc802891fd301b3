from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.core import ConfigMap
from quintant.core.clock import LoopClock
from quintant.core.errors import ConfigError
from quintant.core.object import ObjectMeta
from quintant.keys.sensitive import MASK, Sensitive
from quintant.runtime.observe.logs import (
    Level,
    configure,
    get_logger,
    reconcile,
    reconciling,
    redact,
)
from quintant.testing.loop import advance


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def out() -> io.StringIO:
    stream = io.StringIO()
    configure(format="json", stream=stream)
    return stream


def lines(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_line_is_json_with_time_level_and_text_first(out: io.StringIO) -> None:
    get_logger().info("applied", kind="Deployment", replicas=3)

    (line,) = lines(out)
    assert list(line) == ["time", "level", "msg", "kind", "replicas"]
    assert (line["level"], line["msg"], line["replicas"]) == ("info", "applied", 3)


async def test_time_comes_from_the_given_clock() -> None:
    out = io.StringIO()
    configure(format="json", stream=out, clock=LoopClock())
    await advance(90)
    get_logger().info("woke")

    assert lines(out)[0]["time"] == "2026-01-01T00:01:30.000000Z"


def test_lines_inside_a_reconcile_name_it(out: io.StringIO) -> None:
    with reconciling("portal", "shop/web", "4be1"):
        get_logger().info("applied")
        assert reconcile() == {
            "controller": "portal", "object": "shop/web", "reconcileID": "4be1"
        }  # fmt: skip
    get_logger().info("idle")

    inside, outside = lines(out)
    assert inside["controller"] == "portal"
    assert inside["object"] == "shop/web"
    assert inside["reconcileID"] == "4be1"
    assert "controller" not in outside
    assert reconcile() == {}


def test_library_lines_take_the_same_way_out(out: io.StringIO) -> None:
    logging.getLogger("aiohttp.server").warning("closed %s after %d s", "peer", 3)

    (line,) = lines(out)
    assert line["msg"] == "closed peer after 3 s"
    assert (line["level"], line["logger"]) == ("warning", "aiohttp.server")


def test_library_level_of_its_own_becomes_the_next_lower_one(out: io.StringIO) -> None:
    logging.getLogger("odd").log(35, "between warning and error")
    logging.getLogger("odd").log(90, "beyond critical")

    assert [line["level"] for line in lines(out)] == ["warning", "critical"]


def test_library_line_that_does_not_format_is_not_fatal(out: io.StringIO) -> None:
    handlers = logging.getLogger().handlers
    (handler,) = [
        each for each in handlers if type(each).__module__ == "quintant.runtime.observe.logs"
    ]
    record = logging.LogRecord("odd", logging.INFO, "", 0, "%d apples", ("three",), None)
    raising, logging.raiseExceptions = logging.raiseExceptions, False
    handler.handle(record)
    logging.raiseExceptions = raising

    assert lines(out) == []


def test_configuring_twice_does_not_double_library_lines(out: io.StringIO) -> None:
    again = io.StringIO()
    configure(format="json", stream=again)
    logging.getLogger("aiohttp").error("once")

    assert lines(out) == []
    assert len(lines(again)) == 1


def test_exception_is_written_with_its_traceback(out: io.StringIO) -> None:
    try:
        raise ValueError("no Bearer abc.def here")
    except ValueError:
        get_logger().exception("failed")

    (line,) = lines(out)
    assert line["level"] == "error"
    assert "ValueError: no Bearer *** here" in line["exception"]
    assert "abc.def" not in out.getvalue()


@pytest.mark.parametrize(
    ("level", "shown"), [("debug", 3), ("info", 2), ("warning", 1), ("error", 0)]
)
def test_lines_below_the_level_are_not_written(level: Level, shown: int) -> None:
    out = io.StringIO()
    configure(format="json", level=level, stream=out)
    log = get_logger()
    log.debug("a")
    log.info("b")
    log.warning("c")

    assert len(lines(out)) == shown


def test_auto_draws_columns_on_a_terminal_and_json_elsewhere() -> None:
    terminal, file = Terminal(), io.StringIO()
    configure(stream=terminal)
    get_logger().info("applied", kind="Deployment")
    configure(stream=file)
    get_logger().info("applied", kind="Deployment")

    assert "applied" in terminal.getvalue()
    assert not terminal.getvalue().startswith("{")
    assert lines(file)[0]["kind"] == "Deployment"


def test_console_shows_a_traceback_below_the_line() -> None:
    out = io.StringIO()
    configure(format="console", stream=out)
    try:
        raise ValueError("broken")
    except ValueError:
        get_logger().exception("failed", token="abc")

    first, *rest = out.getvalue().splitlines()
    assert "failed" in first
    assert "token=***" in first
    assert rest[-1] == "ValueError: broken"


@pytest.mark.parametrize(
    "key",
    ["token", "bearer_token", "Password", "clientSecret", "authorization", "api_key", "apiKey",
     "private-key", "credentials", "set-cookie", "client-key-data"],
)  # fmt: skip
def test_value_of_a_key_that_names_a_secret_is_hidden(key: str) -> None:
    assert redact({key: "hunter2"}) == {key: MASK}


@pytest.mark.parametrize("key", ["secret_name", "tokens_left", "key", "public_key", "keyboard"])
def test_value_of_a_key_that_only_mentions_one_is_shown(key: str) -> None:
    assert redact({key: "plain"}) == {key: "plain"}


@given(
    st.recursive(
        st.just("hunter2"),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    )
)
def test_secret_is_hidden_however_deep_it_lies(nested: object) -> None:
    assert "hunter2" not in repr(redact({"outer": {"list": [{"token": nested}]}}))


def test_credentials_inside_texts_are_hidden() -> None:
    event = redact({"url": "https://ann:pw@relay:443/x", "header": "Authorization: bearer e.y"})

    assert event == {"url": "https://***@relay:443/x", "header": "Authorization: bearer ***"}


def test_kubernetes_object_is_written_as_kind_and_name(out: io.StringIO) -> None:
    held = ConfigMap(metadata=ObjectMeta(name="web", namespace="shop"), data={"a": "content"})
    get_logger().info("applied", child=held, others=(held,), age=1.5, error=ValueError("bad"))

    (line,) = lines(out)
    assert line["child"] == "ConfigMap shop/web"
    assert line["others"] == ["ConfigMap shop/web"]
    assert (line["age"], line["error"]) == (1.5, "bad")


def test_hidden_value_stays_hidden_under_any_key(out: io.StringIO) -> None:
    get_logger().info("asked", value=Sensitive("hunter2"), many=[Sensitive("hunter2")])

    assert lines(out)[0]["value"] == MASK
    assert "hunter2" not in out.getvalue()


def test_unknown_format_and_level_are_refused_with_the_choices() -> None:
    with pytest.raises(ConfigError, match="json, console"):
        configure(format="xml")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="debug, info"):
        configure(level="loud")  # type: ignore[arg-type]


def test_importing_logs_does_not_load_rich() -> None:
    code = "import sys, quintant.runtime.observe.logs; sys.exit('rich' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
