"""Markdown as a page: headings, tables, lists and code; everything else is text."""

from __future__ import annotations

import pytest

from quintant.console.server.docs_page import render_markdown


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# One `two`", '<h1 id="one-two">One <code>two</code></h1>'),
        ("a\nb\n\nc", "<p>a\nb</p><p>c</p>"),
        ("- a\n  b\n- **c**", "<ul><li>a\n  b</li><li><strong>c</strong></li></ul>"),
        ("```sh\n<b> | # x\n```\nend",
         "<pre tabindex=0><code>&lt;b&gt; | # x</code></pre><p>end</p>"),
        ("[here](https://a.example/?b&c)",
         '<p><a href="https://a.example/?b&amp;c" rel="noreferrer">here</a></p>'),
        ("[there](../x.md), [evil](javascript:alert(1))", "<p>there, evil)</p>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("```\nnever closed", "<pre tabindex=0><code>never closed</code></pre>"),
        ("", ""),
    ],
)  # fmt: skip
def test_markdown_becomes_a_page_and_no_text_becomes_markup(text: str, html: str) -> None:
    assert render_markdown(text) == html


def test_a_table_has_a_header_and_cells() -> None:
    html = render_markdown("| a | b |\n|---|---|\n| `x` | 1 \\| 2 |")
    assert '<th scope="col">a</th><th scope="col">b</th>' in html
    assert "<td><code>x</code></td><td>1 | 2</td>" in html
