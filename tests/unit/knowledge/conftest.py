"""A small project, and what opens its index."""

import pytest

from perpetualcc.store.index.opening import open_graph, open_pipeline

FILES = {
    "src/shop/__init__.py": "from .till import Till\n",
    "src/shop/till.py": (
        "from .money import round_price\n\n\nclass Till:\n"
        '    """Where money changes hands."""\n\n'
        "    def open_drawer(self, cashier):\n"
        "        check_password(cashier)\n        return round_price(3)\n\n\n"
        "def check_password(cashier):\n    return cashier.password == 'x'\n"
    ),
    "src/shop/money.py": "def round_price(price):\n    return round(price, 2)\n",
    "src/main.py": "from shop import Till\n\n\ndef run():\n    Till().open_drawer(None)\n",
    "tests/test_till.py": (
        "from shop.till import check_password\n\n\n"
        "def test_check_password():\n    check_password(check_password)\n"
    ),
    "README.md": "# Shop\n\nHow to check the password of a cashier.\n",
}


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "shop"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture
def pipeline(project):
    opened = open_pipeline(project)
    opened.index_project()
    return opened


@pytest.fixture
def graph(pipeline):
    return open_graph(pipeline.project)
