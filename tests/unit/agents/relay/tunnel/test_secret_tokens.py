"""The tokens of a Secret: all of them, none if it is gone, and a clear word if it is nonsense."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from quintant.agents.relay.options import parse
from quintant.agents.relay.tunnel.secret_tokens import entries_of
from quintant.agents.relay.tunnel.tokens import digest


def secret(text: str) -> dict[str, Any]:
    return {"data": {"tokens.json": base64.b64encode(text.encode()).decode()}}


def test_entries_are_those_of_the_secret_and_none_without_one() -> None:
    listed = {"sha256": digest("right"), "subject": "team", "names": ["*"]}
    (entry,) = entries_of(secret(json.dumps({"tokens": [listed]})))
    assert entry.subject == "team"
    assert entries_of(None) == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "it has no key tokens.json"),
        ({"data": {"tokens.json": "=="}}, "tokens.json is not base64"),
        (secret('{"tokens": [{"sha256": "hidden"}]}'), "missing required field"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_of_what_it_holds(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        entries_of(given)
    assert "hidden" not in str(refused.value)


def test_tokens_come_from_a_file_or_from_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["--auth", "token", "--tokens-secret", "list"], {}).tokens_secret == "list"
    for words in ([], ["--tokens", "file", "--tokens-secret", "list"]):
        with pytest.raises(SystemExit):
            parse(["--auth", "token", *words], {})
        assert "either --tokens FILE or --tokens-secret NAME" in capsys.readouterr().err
