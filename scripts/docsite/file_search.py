"""Search on pages that were opened as files, without the script that Zensical takes from a CDN."""

from pathlib import Path

_FOREIGN = '<script src="https://unpkg.com/iframe-worker/shim" type="text/javascript"></script>'
_OURS = Path(__file__).with_name("file_worker.js")


def local(html: str) -> str:
    """Return a page in which our script stands in the place of the foreign one."""
    return html.replace(_FOREIGN, f"<script>\n{_OURS.read_text()}</script>")
