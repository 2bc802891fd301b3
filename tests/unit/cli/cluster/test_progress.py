"""What the demo shows at its end."""

from __future__ import annotations

import pytest

from quintant.cli.cluster.progress import summary
from quintant.demo.convergence import Progress, StartupStage

URL = "https://hello.relay-a.portal-demo.svc.cluster.local:8443"


def test_urls_are_whole_however_narrow_the_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    said = f"{URL} answers HTTP/1.1 200 -"
    done = Progress("portal", stage=StartupStage.RUNNING, seconds=2.0, message=said)
    summary([done], {"portal": "exposes Services under public URLs, through tunnels"}, None)
    assert said in capsys.readouterr().out
