"""
Options, and variables, with which a program that is harmless otherwise runs another, deletes, or
writes elsewhere. What they do is in the manual of each program.
"""

import pytest
from judging import bash_risk

from perpetualcc.domain.tools import Risk

HARMFUL = [
    "make clean BUILDDIR=/",
    "make clean BUILDDIR=",
    "make clean OUT=.",
    "BUILD=~ make distclean",
    "tar tf a --index-file=/etc/x",
    "gawk --source='BEGIN{system(\"rm y\")}'",
    "fd --exec=rm x",
    "mktemp /etc/x.XXX",
    "mktemp -p /etc",
    "npm docs x --browser='rm y'",
    "vitest run --typecheck.checker='rm y'",
    "nyc --temp-dir src npm test",
    "c8 --temp-directory=/etc npm test",
    "nx exec -- rm y",
    "pytest --output src",
    "jupyter nbconvert --to pdf --PDFExporter.latex_command='rm y' a",
    "hatch run test:rm y",
    "gcc -MD -MF/etc/x a.c",
    "gcc -fmodule-mapper='|rm y' -fmodules-ts a.cc",
    "ghc -F -pgmFrm a.hs",
    "ghc -pgmF rm -F a.hs",
    "ocamlc -cc 'rm y' a.ml",
    "meson devenv rm y",
    "meson subprojects foreach rm y",
    "meson test --wrap='rm y'",
    "cargo flamegraph -c 'rm y'",
    "air --build.cmd 'rm y'",
    "crystal build --link-flags='`rm y`' a",
    "nim c --out:/etc/x a",
    "nim c -o:/etc/x a.nim",
    "cabal build --builddir=/etc",
    "dune build --build-dir=/etc",
    "swift build --scratch-path /etc",
    "zig build --prefix=/etc",
    "java -agentlib:jdwp=transport=dt_socket,server=y,launch=rm,onuncaught=y A",
    "busted -e 'os.remove(\"y\")'",
    "bison -o/etc/x a.y",
    "flex -o/etc/x a.l",
    "dotnet build -p:PreBuildEvent='rm y'",
    "cmake -DCMAKE_C_COMPILER_LAUNCHER='rm;-f;--' .",
    "GOCACHEPROG='rm y' go build",
    "KUBECTL_EXTERNAL_DIFF='rm y' kubectl diff -f a",
    "SVN_SSH='rm y' svn info",
    "GCOV_PREFIX=/etc make test",
    "PYTHONPYCACHEPREFIX=/etc pytest",
]
UNCERTAIN = [
    "make clean BUILDDIR=../other/build",
    "make clean BUILDDIR=$X",
    "sed -i'../../x*' s/a/b/ src/a",
    "mawk -W exec /tmp/x",
    "man -C /tmp/x ls",
    "ptx -G a /etc/x",
    "systemctl -H evil status",
    "ip -batch a",
    "jest --filter=/tmp/x",
    "rollup --plugin '{buildStart(){}}'",
    "pytest --clean-alluredir --alluredir=src",
    "sphinx-build -M clean docs src",
    "pyinstaller --noconfirm --distpath=. --name=src a.py",
    "golangci-lint run --out-format=json:/etc/x",
    "java --source 21 /tmp/x.java",
    "TOX_OVERRIDE='testenv.commands=rm y' tox",
    "GNUMAKEFLAGS='--eval=$(shell rm y)' make",
    "ERL_AFLAGS='-eval halt()' mix test",
    "YARN_YARN_PATH=/tmp/x yarn",
    "LUA_PATH='/tmp/?.lua' busted",
    "shell_escape=t pdflatex a",
    "PUPPETEER_EXECUTABLE_PATH=/tmp/x jest",
    "VALGRIND_OPTS='--log-file=/etc/x' valgrind ls",
    "GOSUMDB=off go mod download",
    "GOVCS=*:all go build",
    "NIX_PATH=/tmp nix-build",
]
EVERYDAY = [
    "make clean BUILDDIR=build",
    "make clean DESTDIR=/tmp/x",
    "make clean PYTHON=/usr/bin/python3",
    "PATH=/usr/bin:$PATH make clean",
    "make all PREFIX=/usr/local",
    "USE_SSH=1 make test",
    "sed -i.bak s/a/b/ src/a",
    "gawk -e '{print $1}' src/a",
    "awk '{print $1}' src/a",
    "fd --exec=wc x",
    "mktemp -d",
    "mktemp",
    "mktemp /tmp/x.XXXX",
    "mktemp -d -t foo.XXXX",
    "mktemp -p /tmp x.XXX",
    "mktemp --tmpdir x.XXX",
    "rollup -c -p ./x",
    "nyc --temp-dir .nyc_output npm test",
    "nyc npm test",
    "nx exec -- eslint .",
    "pytest --output=test-results",
    "sphinx-build -M html docs docs/_build",
    "sphinx-build -b html docs docs/_build",
    "hatch run test:pytest",
    "gcc -MMD -MF build/a.d -c a.c -o build/a.o",
    "meson devenv -C build pytest",
    "meson test -C build",
    "air --build.cmd 'go build -o tmp/main .'",
    "nim c --out:build/a a.nim",
    "java -agentlib:jdwp=transport=dt_socket,server=y,address=127.0.0.1:5005 -jar build/a.jar",
    "bison -osrc/x.c a.y",
    "join -o1.1,2.2 a b",
    "cmake -DCMAKE_C_COMPILER_LAUNCHER=ccache -B build",
    "KUBECTL_EXTERNAL_DIFF='dyff -x' kubectl diff -f a",
    "ERL_AFLAGS='-kernel shell_history enabled' iex --version",
    "YARN_YARN_PATH=.yarn/releases/yarn.cjs yarn test",
    "LUA_PATH='./src/?.lua;;' busted",
    "PYTHONPYCACHEPREFIX=/tmp/x pytest",
    "PUPPETEER_EXECUTABLE_PATH=/usr/bin/chromium jest",
    "RUFF_CACHE_DIR=.cache/ruff ruff check",
]


@pytest.mark.parametrize("line", HARMFUL)
def test_an_option_that_runs_deletes_or_writes_elsewhere_is_high(line: str) -> None:
    assert bash_risk(line) is Risk.HIGH


@pytest.mark.parametrize("line", UNCERTAIN)
def test_an_option_that_may_is_not_low(line: str) -> None:
    assert bash_risk(line) is not Risk.LOW


@pytest.mark.parametrize("line", EVERYDAY)
def test_the_same_programs_as_they_are_used_every_day_stay_low(line: str) -> None:
    assert bash_risk(line) is Risk.LOW
