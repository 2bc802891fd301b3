"""One page of HTML: for every scenario the run without faults, and below it every failing run.

A lane for users, the program, each watch and each remote; the fault, and the first difference. The
page needs nothing else: no script, nothing from the network, which it forbids itself. Whatever a
program has put into names and messages is text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape

from quintant.testing.explore.report.findings import FailingRun, Findings
from quintant.testing.explore.report.lanes import RunMoment, lanes_of, moments_of

MOST_STORIES = 200
"""Failures with all their moments; of more, a person reads the tokens."""
MOST_MOMENTS = 400
"""Of a run without faults, from its beginning."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #c62828; --calm: #8889; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 75rem; }
body { padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { margin-top: 2.5rem; } h3 { font-size: 1rem; margin-bottom: .3rem; }
code, td { font-family: ui-monospace, monospace; font-size: .82rem; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-size: .8rem; border-bottom: 2px solid var(--line); padding: .2rem; }
td { border-left: 1px solid var(--line); padding: .1rem .5rem; vertical-align: top; }
tr.fault td { background: var(--bad); color: #fff; font-weight: 600; }
tr.breach td { border: 2px solid var(--bad); color: var(--bad); font-weight: 600; }
tr.quiet td { color: var(--calm); text-align: center; border-top: 1px dashed var(--line); }
.bad { color: var(--bad); } summary { cursor: pointer; margin: .5rem 0; }
"""


def html_report(explored: Sequence[Findings], now: datetime) -> bytes:
    """The page; `now` is when the exploration ended."""
    failures = sum(len(each.failures) for each in explored)
    title = f"{failures} failures in {len(explored)} explorations"
    body = "\n".join(part for each in explored for part in _section(each))
    made = now.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width">
<title>quintant explore: {escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>quintant explore, {made}</p>
{body}
</body>
</html>
"""
    return page.encode("utf-8", "replace")


def _section(findings: Findings) -> Iterator[str]:
    yield f"<h2>{escape(findings.title)}</h2>\n<p>{escape(findings.summary)}</p>"
    yield from _list("What the runs without faults have shown", findings.notes)
    if findings.undisturbed:
        moments = moments_of(findings.undisturbed[:MOST_MOMENTS])
        opened = " open" if findings.failures else ""
        title = "<summary>The run without faults</summary>"
        yield f"<details{opened}>{title}{_table(moments)}</details>"
    for number, finding in enumerate(findings.failures):
        yield _failure(finding, with_story=number < MOST_STORIES)
    if findings.at_times:
        yield "<h3>At times</h3>"
        yield from (_failure(each, with_story=False) for each in findings.at_times)
    yield from _list("Not made", [f"{each.token}: {each.why}" for each in findings.untried])


def _failure(finding: FailingRun, *, with_story: bool) -> str:
    times = f" ({finding.times} of {finding.tries})" if finding.tries > 1 else ""
    parts = [
        f'<h3 class="bad"><code>{escape(finding.token)}</code>{times}</h3>',
        _table(moments_of(finding.story)) if with_story else f"<p>{escape(finding.why)}</p>",
        f"<p><code>{escape(finding.repeat)}</code></p>" if finding.repeat else "",
    ]
    return "\n".join(filter(None, parts))


def _table(moments: Sequence[RunMoment]) -> str:
    lanes = lanes_of(moments) or ("",)
    head = "".join(f"<th>{escape(lane)}</th>" for lane in lanes)
    rows = "\n".join(_row(each, lanes) for each in moments)
    return f'<div class="scroll"><table><tr>{head}</tr>\n{rows}\n</table></div>'


def _row(moment: RunMoment, lanes: Sequence[str]) -> str:
    text = escape(moment.text)
    if moment.lane:
        cells = "".join(f"<td>{text if lane == moment.lane else ''}</td>" for lane in lanes)
    else:
        cells = f'<td colspan="{len(lanes)}">{text}</td>'
    return f'<tr class="{moment.kind}">{cells}</tr>'


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        items = "".join(f"<li><code>{escape(line)}</code></li>" for line in lines)
        yield f"<h3>{escape(title)}</h3>\n<ul>{items}</ul>"
