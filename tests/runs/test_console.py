"""What people see on a terminal. Without rich: `tests/cli/test_errors.py`."""

import re

from jaxgames.runs.console import progress_bar


def test_a_long_text_is_cut_and_times_are_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    with progress_bar(2.0) as bar:
        assert not bar(0.5, "games and more " * 9)  # this is no terminal, so nobody sees it move
    line = capsys.readouterr().err.rstrip("\n")
    assert len(line) == 60 and re.search(r"  25 % 0:00:0\d -:--:-- games and more ga.*…$", line), line
