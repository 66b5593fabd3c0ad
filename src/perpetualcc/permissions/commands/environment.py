"""
What setting a variable means: by the tables, by what it is called, and by where its value leads.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.blocked import SHELLS, is_shell
from perpetualcc.permissions.commands.foreign_code import foreign_path
from perpetualcc.permissions.commands.given_settings import foreign_host, serves_everyone
from perpetualcc.permissions.commands.knowledge import Knowledge
from perpetualcc.permissions.commands.named_outputs import OWN_PLACE
from perpetualcc.permissions.commands.places import are_ordinary
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.paths import MAY_LEAVE, Territory, Zone
from perpetualcc.permissions.shell.directories import Directories
from perpetualcc.permissions.shell.script import UNKNOWN, Word

_PLACE_NAME = re.compile(
    r"DIR|HOME|PATH|ROOT|TMP|TEMP|CACHE|FILE|LOG|OUT|PREFIX|DATA|DB|URL", re.IGNORECASE
)
"""Variables with these in their names hold places, and not programs."""
_OPEN_DIRECTORY = re.compile(
    r"[^\ue000]*(?:^|:)(?:(?:/private)?/(?:var/)?tmp|(?:/private)?/var/folders|/dev/shm)(?:/|:|$)",
    re.IGNORECASE,
)  # compared only
_LIBRARY_PATHS = frozenset({"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"})
_HOLDS_CODE = re.compile(
    r"(?:.*_)?(?:HOME|(?:CONFIG|CONF|CFG|SETTINGS?|RC|INIT|SDKS?|STARTUP|PROFILES?|TOOLCHAIN|PLUGINS?|MODULES?"
    r"|LIB|LIBS|LIBRARY|HOOKS?|SCRIPTS?|LOADERS?|PROFILER|AGENT|EXTENSIONS?|PRESETS?|TEMPLATES?|BIN"
    r"|INCLUDE|OVERRIDES?)(?:_?(?:FILES?|FILENAME|PATHS?|DIRS?|URL))?|RUNNER|LAUNCHER|WRAPPER|LINKER|COMPILER"
    r"|INTERPRETER|DRIVER|EXECUTABLE|BINARY|PROGRAM|TOOL|COMMAND|CMD|OPTS?|OPTIONS|FLAGS|ARGS|JAR"
    r"|(?:MAKE|JUST|TASK|RAKE|GULP)FILES?|BUILDFILE|PRELOAD|RUSTC|RUSTDOC|RUSTFMT|CARGO|PYTHON|NODE|RUBY|PERL|PHP|JAVAC?|MAKE|GO|LD|AR|AS|SHELL"
    r"|LOADABLE|ROOT|PIPFILE|GEMFILE|EXEC_PREFIX|BACKEND|(?:COMPILER|PROGRAM|BINARY|RUN|SEARCH|LOAD|EXEC|EXECUTABLE|SYMBOLIZER"
    r"|LIBRARY|INCLUDE)_PATH|MAVEN_PROJECTBASEDIR|VENDOR_DIR)|CPATH|IDF_PATH|ZEPHYR_(?:BASE|MODULES)|JUPYTER_PATH|PLATFORMIO_\w+_DIR|ELECTRON_OVERRIDE_DIST_PATH|\w*FLAGS|\w*TOOLDIR|MSBuild\w+|CCACHE_(?:PREFIX|COMPILER)\w*|BUNDLE_(?:PATH|APP_CONFIG|USER_\w+)",
    re.IGNORECASE,
)
"""Variables with these at the end of their names say where programs find code or settings."""
_HOLDS_DATA = re.compile(
    r"(?<!C)CACHE|TE?MP|LOGS?(?:_|$)|^HF_|^TORCH_|DATA_|MODEL|OUTPUT", re.IGNORECASE
)
_LOADED_PLACES = re.compile(r"(?:Downloads|Desktop|Documents)(?:/|$)")
_SOURCE = re.compile(
    r"BAZELISK_\w+|YARN_\w*REGISTRY\w*|BUNDLE_MIRROR__\w+|CYPRESS_INSTALL_BINARY"
    r"|(?:.*_)?\w*(?:REPO(?:SITOR(?:Y|IES))?|MIRRORS?|REGISTRY|INDEX|DISTRIBUTION|CHANNELS?|PYPI|CDN)(?:_?(?:URL|HOST|BASE|ALIAS))?"
    r"|(?:.*_)?(?:DIST|PKG|PACKAGES?|DOWNLOADS?|UPDATE|STORAGE|HOSTED|CACHE)_(?:\w+_)?(?:SERVER|ROOT|HOST|(?:BASE_)?URL|ENDPOINT|STORAGE)"
    r"|JSR_URL|HEX_API_URL|TURBO_API|CCACHE_REMOTE_STORAGE|SCCACHE_(?:\w+_)?ENDPOINT|HF_ENDPOINT",
    re.IGNORECASE,
)
_TARGET = re.compile(
    r"(?:(?:\w+_)?(?:TEST|PLAYWRIGHT|CYPRESS|E2E|SELENIUM|WDIO)_)?(?:BASE|TARGET)_?UR[LI]|\w*DATASOURCE_URL"
)
_POINTS = (
    (_SOURCE, "by its name it says where things come from, and that is elsewhere"),
    (_TARGET, "says what is tested or worked with, and that is elsewhere"),
    (re.compile(r"OTEL_\w*ENDPOINT|SENTRY_DSN"), "what the program reports goes elsewhere"),
)
"""Variables with these names hold addresses, and what it is if one is of another machine."""
_DATABASE = re.compile(
    r"(?:.*_)?(?:DATABASE|DB|MONGO(?:DB)?|REDIS|PG|POSTGRES(?:QL)?|MYSQL|MARIADB|CLICKHOUSE|AMQP)_?(?:URL|URI|DSN|HOST|HOSTNAME|ADDR)",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(r"\.|^prod")
"""What is in the name of a host that is no container beside this one."""
_TRACES = re.compile(r"(?:^|_)TRACE\d*(?:_|$)")
_IS_WRITTEN = re.compile(
    r"(?:\w*_)?(?:TRACE\d*(?:_\w+)?|(?:SSLKEY)?LOGS?(?:_?(?:FILE|PATH|DIR))?|(?:STD)?(?:OUT|ERR)(?:PUT)?"
    r"(?:_?(?:FILE|PATH|DIR))?|REDIRECT_\w+|DUMP\w*|(?:REPORT|RESULT|ARTIFACT)S?(?:_?(?:FILE|PATH|DIR))?"
    r"|\w*CACHE(?:_?(?:DIR|FOLDER|PATH))?|(?:DEBUG_)?TE?MP(?:_?(?:DIR|ROOT))?|BUILD_PATH|PID_?FILE|\w*HISTFILE|HISTORY|PROFILE_FILE|(?:GCOV|GMON_OUT)_PREFIX|PYTHONPYCACHEPREFIX|TEXMFOUTPUT|PYLINTHOME|SUNPRO_DEPENDENCIES|COVERAGE_FILE|(?:GO)?COVERDIR|V8_COVERAGE)"
    r"|CCACHE_DIR|YARN_GLOBAL_FOLDER|GOTMPDIR|CPUPROFILE|HEAPPROFILE|PLAYWRIGHT_\w+_OUTPUT_NAME|(?:BUNDLE|MAVEN|GRADLE)_USER_HOME|PRE_COMMIT_HOME|IPYTHONDIR|HYPOTHESIS_STORAGE_DIRECTORY|(?i:npm_config_(?:cache|logs[_-]dir))"
)
"""Variables with these names hold files that a program writes."""
_OF_GIT = re.compile(r"(?:^|/)\.git(?:/(?!COMMIT_EDITMSG|index)|$)")
_LEAVES_OUT = re.compile(r"IGNORE|EXCLU|SKIP|PRUNE|^GIT_", re.IGNORECASE)
"""Variables that say what is left alone, and those of git, of which the tables speak."""
_FORMAT = re.compile(r"(?:xml|json):")
"""`GTEST_OUTPUT=xml:report/`: how it writes, before where."""
_PIECES = re.compile(r"[=:,;\s]")
_LONGEST_NAME = 100
"""Characters; of a longer name, which no program has, the end counts."""
_TOOLS = re.compile(
    r"AR|AS|CC|CXX|CPP|FC|LD|LEX|YACC|NM|STRIP|RANLIB|OBJCOPY|OBJDUMP|INSTALL|LINT|MAKEINFO|RM|PKG_CONFIG"
    r"|MKDIR(?:_P)?|CP|MV|LN|LN_S|TAR|SED|AWK|GREP|CURL|GIT|DOCKER|GO|NODE|NPM|NPX|YARN|PNPM"
    r"|PIP|PYTHON3?|PERL|RUBY|PHP|COMPOSER|INSTALL_(?:PROGRAM|DATA|SCRIPT)|M4|BISON|FLEX|ACLOCAL|AUTO(?:CONF|HEADER|MAKE|M4TE)"
    r"|LIBTOOLIZE|GCCGO|CCACHE_PREFIX"
)
"""Variables that hold a program of the kind that makefiles run."""
_IS_RUN = re.compile(
    rf"(?:\w*_)?(?:RUNNER|WRAPPER|LAUNCHER|COMMAND|CMD|EXEC|EDITOR|PAGER|HOOK|BROWSER|ASKPASS|LINKER|RUSTC|RUSTDOC|RUSTFMT|CARGO|EXTERNAL_DIFF|SSH|RSH"
    rf"|BIN|BINARY|COMPILER|EXECUTABLE|EXECUTABLE_PATH|REBAR3?)|YARN_YARN_PATH|HARNESS_PERL|R_\w+CMD"
    rf"|(?:Pre|Post)(?:Build|Link)Event|RunCommand|\w+ToolExe|\w+CommandLine|GOCACHEPROG|GOAUTH|P4DIFF|P4PAGER"
    rf"|CIBW_(?:BEFORE|REPAIR|TEST)_\w+|{_TOOLS.pattern}"
)
_RUN_BY_ZSH = frozenset({"functions", "aliases", "galiases", "saliases"})
_INSTALLS = re.compile(r"GOBIN|\w*(?:_BIN|_INSTALL|_TARGET|_OUT|_OUTPUT)_?(?:DIR|PATH|ROOT)")
_FLAGS = (
    (re.compile(r"\w*RUSTFLAGS"), "rustc"),
    (re.compile(r"\w*RUSTDOCFLAGS"), "rustdoc"),
    (re.compile(r"\w*(?:C|CXX|CPP|LD|FC?)FLAGS(?:_\w+)?|LDLIBS|LOADLIBES"), "gcc"),
)
"""Variables with these names hold options, and what has them as its options."""
_LISTENS = re.compile(r"(?:.*_)?(?:HOST|HOSTNAME|BIND|ADDR|ADDRESS|LISTEN|URLS?)", re.IGNORECASE)


def judge_variable(
    name: str,
    value: str,
    *,
    words: Sequence[Word],
    knowledge: Knowledge,
    territory: Territory,
    cwds: Directories,
    part: str,
    run: Callable[[str], Sequence[Finding]],
) -> Finding | None:
    """What setting `name` to `value` before `words` means; None when it is nothing to speak of."""
    name = name[-_LONGEST_NAME:]
    meaning = knowledge.variable(name, value)
    is_read = words or name in _RUN_BY_ZSH
    if is_read and (graver := _graver(name, value, territory, cwds, run)) is not None:
        risk, why = graver
    elif name == "PATH" and _OPEN_DIRECTORY.match(value):
        risk, why = Risk.HIGH, "puts a place that anyone may write to before all programs"
    elif meaning is not None:
        if name in _LIBRARY_PATHS and _runs_own_program(words, territory, cwds):
            meaning = replace(meaning, places="project")
        if are_ordinary(value, meaning.places, territory, cwds) and not _runs_shell(value):
            return None
        risk, why = meaning.risk, meaning.explanation
    else:
        found = _by_value(name, value, bool(words), territory, cwds)
        if found is None:
            return None
        risk, why = found
    return Finding(
        risk=risk,
        rule="environment-variable",
        part=part,
        explanation=f"{name}: {why}",
        kind=f"set {name}",
        effects=(Effect(kind=EffectKind.EXECUTE, target=name),),
    )


def is_usual(name: str, knowledge: Knowledge) -> bool:
    """Whether a person's environment may well have it: to set it is then to export it."""
    return (
        knowledge.names_variable(name)
        or _TOOLS.fullmatch(name) is not None
        or any(names.fullmatch(name) for names, _ in _FLAGS)
    )


def _graver(
    name: str,
    value: str,
    territory: Territory,
    cwds: Directories,
    run: Callable[[str], Sequence[Finding]],
) -> tuple[Risk, str] | None:
    """What no table need say: where it makes a program write, and which command it has it run."""
    value = _FORMAT.sub("", value)
    for piece in _PIECES.split(value) if ".git/" in value or ".claude/" in value else ():
        if OWN_PLACE.match(piece):
            return Risk.HIGH, f"has a program write {piece}, which changes what is run later"
    if MAY_LEAVE.match(value) and _IS_WRITTEN.fullmatch(name):
        written = territory.write(value, cwds, name)
        is_usual = "CACHE" in name and not written.is_guarded
        is_usual &= written.effects[0].target.startswith(f"{territory.home}/.cache/")
        if written.risk is Risk.HIGH and not is_usual:
            return Risk.HIGH, f"makes a program write. {written.explanation}"
        if _TRACES.search(name) and written.risk is Risk.MEDIUM:
            return Risk.MEDIUM, f"makes a program write. {written.explanation}"
    if ".git" in value and _OF_GIT.search(value) and not _LEAVES_OUT.search(name):
        written = territory.write(value, cwds, name)
        if written.is_guarded and written.risk is Risk.HIGH:
            return Risk.HIGH, f"may make a program write. {written.explanation}"
    program = next((program for names, program in _FLAGS if names.fullmatch(name)), "")
    is_run = program or name in _RUN_BY_ZSH or _IS_RUN.fullmatch(name)
    if value and UNKNOWN not in value and "://" not in value.split(" ")[0] and is_run:
        given = run(f"{program} {value}".strip())
        worst = next((found for found in given if found.risk is Risk.HIGH), None)
        if worst is not None:
            return Risk.HIGH, f"has a program run it. {worst.explanation}"
    return None


def _runs_shell(value: str) -> bool:
    """`RUNNER='sh -c'` is given whatever is to be run."""
    first, _, rest = value.partition(" ")
    return rest.startswith("-") and (first in SHELLS or is_shell(first))


def _by_value(
    name: str, value: str, is_passed: bool, territory: Territory, cwds: Directories
) -> tuple[Risk, str] | None:
    """A variable that no table knows."""
    if is_passed and (is_shell(value) or _runs_shell(value)):
        return Risk.HIGH, "names a shell as the program to run"
    if is_passed and value.startswith("/tmp/") and not _PLACE_NAME.search(name):  # noqa: S108  # compared only
        return Risk.MEDIUM, "may name a program in the temporary directory"
    if is_passed and _LISTENS.fullmatch(name) and serves_everyone(value):
        return Risk.MEDIUM, "listens to every network this machine is in"
    pointed = next((why for names, why in _POINTS if names.fullmatch(name)), "")
    if is_passed and pointed and foreign_host(value) is not None:
        return Risk.MEDIUM, pointed
    if (
        is_passed
        and _DATABASE.fullmatch(name)
        and _ELSEWHERE.search(foreign_host(_address(value)) or "")
    ):
        return Risk.MEDIUM, "works with a database on another machine"
    if is_passed and _INSTALLS.fullmatch(name):
        written = territory.write(value, cwds, name)
        if written.risk is Risk.HIGH:
            return Risk.MEDIUM, "has programs put where they are found by their names"
    if not is_passed or not _HOLDS_CODE.fullmatch(name) or _HOLDS_DATA.search(name):
        return None
    path = foreign_path(value, territory, cwds)
    if path is None or _is_persons_tool(name, path, territory, cwds):
        return None
    return Risk.MEDIUM, "by its name it says where code or settings are, and they lie elsewhere"


def _address(value: str) -> str:
    """`PGHOST=db.example.com` is an address without its beginning; so is a socket's directory."""
    return value if "://" in value or value.startswith("/") else f"tcp://{value}"


def _is_persons_tool(name: str, path: str, territory: Territory, cwds: Directories) -> bool:
    """`ANDROID_HOME=~/Android/Sdk`: what a person keeps at home, and did not just load."""
    place, home = territory.locate(path, cwds).path, f"{territory.home}/"
    is_home = name.upper().endswith(
        ("HOME", "ROOT", "IDF_PATH", "ZEPHYR_BASE")
    ) and place.startswith(home)
    return is_home and not _LOADED_PLACES.match(place.removeprefix(home))


def _runs_own_program(words: Sequence[Word], territory: Territory, cwds: Directories) -> bool:
    """`./build/tests`: what the project has built, with the libraries it was built with."""
    name = words[0].text if words else ""
    zone = territory.locate(name, cwds).zone
    return "/" in name and zone in {Zone.SAFE, Zone.PROJECT}
