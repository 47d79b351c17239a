"""A server for all tests of a file, and people at it."""

import pytest

from tests.web.pages import page, serving


@pytest.fixture(scope="module")
def http():
    with serving() as (_, client):
        yield client


@pytest.fixture
def ann(http):
    with page(http) as one:
        yield one


@pytest.fixture
def bob(http):
    with page(http) as one:
        yield one


@pytest.fixture
def eve(http):
    with page(http) as one:
        yield one
