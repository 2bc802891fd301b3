"""NewSerializerWithOptions: answers as YAML, for clients that prefer it to JSON."""

from __future__ import annotations

import msgspec
import yaml


def dumped(body: bytes) -> bytes:
    """A JSON document as YAML."""
    written: bytes = yaml.dump(
        msgspec.json.decode(body), Dumper=_Dumper, allow_unicode=True, encoding="utf-8"
    )
    return written


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Plain data, without the anchors that PyYAML makes of values it meets twice."""

    def ignore_aliases(self, data: object) -> bool:
        return True
