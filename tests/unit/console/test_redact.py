"""What is shown of objects holds no secret."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.console.redact import HIDDEN, LAST_APPLIED, redacted


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"password": "x"}, {"password": HIDDEN}),
        ({"apiKey": "x", "key": "tls.crt"}, {"apiKey": HIDDEN, "key": "tls.crt"}),
        ({"authSecretRef": {"name": "a"}}, {"authSecretRef": {"name": "a"}}),
        ({"secretName": "a"}, {"secretName": "a"}),
        ({"env": [{"name": "DB_PASSWORD", "value": "x"}]},
         {"env": [{"name": "DB_PASSWORD", "value": HIDDEN}]}),
        ({"env": [{"name": "LEVEL", "value": "x"}]}, {"env": [{"name": "LEVEL", "value": "x"}]}),
        ({"url": "https://user:pass@host/x"}, {"url": f"https://{HIDDEN}@host/x"}),
        ({LAST_APPLIED: "{}"}, {LAST_APPLIED: HIDDEN}),
        ({"a": [{"clientSecret": "x"}]}, {"a": [{"clientSecret": HIDDEN}]}),
    ],
)  # fmt: skip
def test_values_of_secret_like_keys_are_hidden(value: Any, shown: Any) -> None:
    assert redacted(value) == shown


def test_an_object_that_is_nested_without_end_is_cut() -> None:
    deep: Any = "x"
    for _ in range(500):
        deep = {"a": deep}
    assert HIDDEN in str(redacted(deep))
