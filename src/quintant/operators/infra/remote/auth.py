"""The Authorization header of an Infrastructure Manager: a JSON list of credentials.

IM takes the two characters of an escaped newline apart before it reads the JSON, so no escape but
\\uXXXX may stand in it. The header is ASCII, and what a password holds arrives as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.observed.session import ProviderSession

_PLAIN = {chr(code) for code in range(0x20, 0x7F)} - {'"', "\\"}


def authorization(session: ProviderSession) -> str:
    """The header's value."""
    user: Mapping[str, str | Sensitive[str]] = {
        "id": "im", "type": "InfrastructureManager", **session.user,
    }  # fmt: skip
    records = [user] if session.cloud is None else [user, session.cloud]
    return f"[{', '.join(map(_record, records))}]"


def _record(fields: Mapping[str, str | Sensitive[str]]) -> str:
    pairs = (
        f"{_text(name)}: {_text(value.reveal() if isinstance(value, Sensitive) else value)}"
        for name, value in fields.items()
    )
    return f"{{{', '.join(pairs)}}}"


def _text(text: str) -> str:
    return f'"{"".join(each if each in _PLAIN else _escaped(each) for each in text)}"'


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
