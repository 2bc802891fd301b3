"""The users that IM lets in, as a file for its setting `USER_DB`."""

import json
from collections.abc import Mapping
from pathlib import Path


def write_users(path: Path, passwords: Mapping[str, str]) -> Path:
    """Write a file of users and their passwords, and return where it is."""
    users = [{"username": name, "password": word} for name, word in passwords.items()]
    path.write_text(json.dumps({"users": users}))
    return path
