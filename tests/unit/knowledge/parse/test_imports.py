"""What an import means, as the interpreters would say."""

import json

import pytest

from perpetualcc.knowledge.parse.imports import module_keys, read_imports
from perpetualcc.knowledge.parse.layout import read_layout
from perpetualcc.knowledge.parse.syntax import RawImport

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/till.py": "",
    "src/shop/parts/__init__.py": "",
    "src/shop/parts/drawer.py": "",
    "scripts/run.py": "",
    "web/tsconfig.json": '{"compilerOptions": {"baseUrl": ".", // here\n'
    ' "paths": {"@/*": ["lib/*"],}}}',
    "web/lib/api.ts": "",
    "web/lib/index.ts": "",
    "web/views/page.tsx": "",
    "packages/kit/package.json": json.dumps({"name": "@shop/kit", "main": "src/main.js"}),
    "packages/kit/src/main.js": "",
    "packages/kit/src/deep.js": "",
    "go.mod": "module example.com/shop\n",
    "till/till.go": "",
    "cmd/main.go": "",
    "include/till.h": "",
    "core/main.c": "",
}
LANGUAGE = {
    "py": "python",
    "ts": "typescript",
    "tsx": "tsx",
    "js": "javascript",
    "go": "go",
    "h": "cpp",
    "c": "c",
}

MEANINGS = [
    ("src/shop/till.py", "import shop.parts.drawer", "src/shop/parts/drawer.py"),
    ("src/shop/till.py", "from shop.parts import drawer", "src/shop/parts/drawer.py"),
    ("src/shop/till.py", "from .parts.drawer import Drawer", "src/shop/parts/drawer.py"),
    ("src/shop/till.py", "from . import parts", "src/shop/parts/__init__.py"),
    ("src/shop/parts/drawer.py", "from ..till import Till as T", "src/shop/till.py"),
    ("src/shop/parts/drawer.py", "from .. import till", "src/shop/till.py"),
    ("scripts/run.py", "import shop", "src/shop/__init__.py"),
    ("scripts/run.py", "from shop.till import (\n  A,  # one\n  B,\n)", "src/shop/till.py"),
    ("scripts/run.py", "import os.path", None),
    ("web/views/page.tsx", '"../lib/api"', "web/lib/api.ts"),
    ("web/views/page.tsx", '"../lib/api.js"', "web/lib/api.ts"),
    ("web/views/page.tsx", '"../lib"', "web/lib/index.ts"),
    ("web/views/page.tsx", '"@/api"', "web/lib/api.ts"),
    ("web/views/page.tsx", '"lib/api"', "web/lib/api.ts"),
    ("web/views/page.tsx", '"@shop/kit"', "packages/kit/src/main.js"),
    ("web/views/page.tsx", '"@shop/kit/deep"', "packages/kit/src/deep.js"),
    ("web/views/page.tsx", '"react"', None),
    ("cmd/main.go", '"example.com/shop/till"', "till/till.go"),
    ("cmd/main.go", '"net/http"', None),
    ("core/main.c", '"till.h"', "include/till.h"),
]


@pytest.fixture
def project(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.mark.parametrize(("path", "text", "meaning"), MEANINGS)
def test_an_import_means_the_file_that_would_be_loaded(project, path, text, meaning):
    layout = read_layout(project, FILES)
    answers = {}
    for name in FILES:
        language = LANGUAGE.get(name.rpartition(".")[2])
        for key in module_keys(name, language, layout) if language else ():
            answers.setdefault(key, name)

    imports = read_imports(
        (RawImport(text=text, line=0),), path, LANGUAGE[path.rpartition(".")[2]], layout
    )

    found = [next((answers[t] for t in entry.targets if t in answers), None) for entry in imports]
    assert set(found) == {meaning}


@pytest.mark.parametrize("text", ["", "[", '"x"', "{", '{"compilerOptions": 3}', '{"name": []}'])
def test_settings_that_are_no_settings_say_nothing(tmp_path, text):
    (tmp_path / "tsconfig.json").write_text(text)
    (tmp_path / "package.json").write_text(text)

    layout = read_layout(tmp_path, ["tsconfig.json", "package.json"])

    assert (layout.aliases, layout.workspaces) == ((), {})
