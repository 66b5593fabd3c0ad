"""Where learning keeps its files, and a project, for the tests of this folder."""

import pytest

from perpetualcc.learning.library import Library
from perpetualcc.learning.places import Places


@pytest.fixture
def places(tmp_path):
    made = Places(claude=tmp_path / "claude")
    made.make()
    return made


@pytest.fixture
def project(tmp_path):
    directory = tmp_path / 'pro ject\n"x'
    directory.mkdir()
    return str(directory)


@pytest.fixture
def library(places):
    return Library(places)
