from __future__ import annotations

import json
from pathlib import Path

import pytest

from quintant.agents.relay.tunnel.tokens import TunnelTokens, digest, parse


def written(path: Path, *tokens: str) -> Path:
    entries = [
        {"sha256": digest(each), "subject": f"of-{each}", "names": ["app"]} for each in tokens
    ]
    path.write_text(json.dumps({"tokens": entries}))
    return path


def test_a_token_is_known_by_its_hash(tmp_path: Path) -> None:
    tokens = TunnelTokens(written(tmp_path / "tokens.json", "one", "two"))
    found = tokens.find("two")
    assert found is not None
    assert found.subject == "of-two"
    assert tokens.find("three") is None
    assert tokens.find("") is None


def test_a_changed_file_counts_at_once(tmp_path: Path) -> None:
    tokens = TunnelTokens(written(tmp_path / "tokens.json", "one"))
    written(tmp_path / "tokens.json", "other", "third")
    assert tokens.reload() == ""
    assert tokens.find("one") is None
    assert tokens.find("other") is not None


def test_a_broken_file_leaves_the_last_good_one_in_force(tmp_path: Path) -> None:
    path = written(tmp_path / "tokens.json", "one")
    tokens = TunnelTokens(path)
    path.write_text("{}")
    assert "tokens" in tokens.reload()
    assert tokens.find("one") is not None
    path.unlink()
    assert tokens.reload()
    assert tokens.find("one") is not None


def test_a_field_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown field"):
        parse(b'{"tokens": [{"sha256": "x", "subject": "a", "names": ["a"], "name": "typo"}]}')


def test_names_are_globs() -> None:
    entry = {"sha256": digest("t"), "subject": "a", "names": ["team-*", "hello"]}
    (found,) = parse(json.dumps({"tokens": [entry]}).encode())
    assert found.names == ("team-*", "hello")
