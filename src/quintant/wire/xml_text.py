"""Text for an XML document: without what XML cannot hold, escaped or not."""

from __future__ import annotations

import re

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def legal_text(text: str) -> str:
    """A text with a replacement character for each one that no XML document may have."""
    return _ILLEGAL.sub("\ufffd", text)
