"""proxy.Transport: links of a response, so that they lead through the proxy again. Pure.

A pod knows nothing of the path below which it is reached: `/login` of a pod is
`/api/v1/namespaces/NS/pods/NAME/proxy/login` of the server. Relative links and those to other hosts
stay as they are.
"""

from __future__ import annotations

from urllib.parse import quote, urlsplit, urlunsplit

from msgspec import Struct

from quintant.cluster.apiserver.golang.url import clean_path
from quintant.cluster.apiserver.proxy.location import PATH_SAFE, join_path


class LinkRewriter(Struct, frozen=True):
    """Rewrites links of one response."""

    prepend: str
    """What stands in the request's path before that of the pod."""
    location_host: str
    """What the pod may call itself."""
    request_host: str
    """What the client called the server."""

    def rewrite(self, link: str) -> str:
        """A link that leads through the proxy; ValueError for one that cannot be read."""
        url = urlsplit(link)
        elsewhere = url.netloc not in ("", self.location_host, self.request_host)
        if elsewhere or not url.path.startswith("/"):
            return link
        if url.netloc != self.request_host:
            url = url._replace(scheme="", netloc="")
        if url.path.startswith(self.prepend):
            return urlunsplit(url)
        return urlunsplit(url._replace(path=join_path(self.prepend, url.path)))

    def forwarded_uri(self, path: str) -> str:
        """X-Forwarded-Uri: the path of the request, as a pod may need it for links of its own."""
        return join_path(self.prepend, clean_path(path) + ("/" if path.endswith("/") else ""))


def link_rewriter(
    request_path: str, location_path: str, location_host: str, request_host: str
) -> LinkRewriter:
    """What rewrites the links of the response to a request."""
    suffix = location_path
    if request_path.endswith("/") and not suffix.endswith("/"):
        suffix += "/"
    prepend = quote(request_path.removesuffix(suffix), safe=PATH_SAFE)
    return LinkRewriter(prepend, location_host, request_host)
