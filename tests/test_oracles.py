"""A missing oracle fails the tests, whatever else is installed."""

from pathlib import Path

import pytest

from tests.oracles import oracle


def test_a_missing_oracle_fails():
    with pytest.raises(pytest.fail.Exception, match=r"^no_oracle is not installed.*pip install -e '\.\[dev\]'$"):
        oracle("no_oracle")


def test_no_test_is_left_out_without_one():
    skips = "import" + "orskip"
    assert not [path for path in Path(__file__).parent.rglob("*.py") if skips in path.read_text("utf-8")]
