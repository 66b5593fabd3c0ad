"""The hooks as bash runs them: any path, any text, many at once, and nothing when we are gone."""

import json
import os
import pwd
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perpetualcc.learning.events import parse_line
from perpetualcc.learning.install import hooks_directory, install
from perpetualcc.learning.library import Library
from perpetualcc.learning.places import Places
from perpetualcc.learning.process import typed_rule

PLUGIN = Path(__file__).parents[3] / "plugin" / "hooks"


def capture(places, text, *, kind="prompt", script="capture.sh", cwd=None, **more):
    environment = {"PATH": "/usr/bin:/bin", "CLAUDE_CONFIG_DIR": str(places.claude), **more}
    return subprocess.run(
        ["bash", str(hooks_directory() / script), kind],
        input=text if isinstance(text, bytes) else text.encode(),
        env=environment, cwd=cwd, capture_output=True, check=True, timeout=20,
    )  # fmt: skip


def events(places):
    lines = places.queue.read_bytes().splitlines()
    return [event for line in lines for event in parse_line(line)]


@pytest.mark.parametrize(
    "name",
    [
        "plain",
        "with space",
        'quo"te',
        "back\\slash",
        "new\nline",
        "tab\tand\x01",
        "日本語",
        "$(x)`",
    ],
)
def test_any_project_path_arrives_as_it_is(places, tmp_path, name):
    project = tmp_path / name
    project.mkdir()

    done = capture(places, '{"prompt": "hi"}', cwd=project)

    assert (done.stdout, done.stderr) == (b"", b"")
    assert [event.project for event in events(places)] == [str(project)]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(max_size=200))
def test_any_prompt_arrives_as_it_was_typed(places, prompt):
    places.queue.unlink(missing_ok=True)

    capture(places, json.dumps({"prompt": prompt}, ensure_ascii=False).encode(errors="replace"))

    expected = json.loads(json.dumps(prompt).encode())
    said = events(places)[0].text("prompt")
    assert said == expected.encode(errors="replace").decode()


def test_what_is_longer_than_one_write_lies_beside_the_queue(places):
    capture(places, json.dumps({"prompt": "x" * 50_000}))

    (event,) = events(places)
    assert places.queue.stat().st_size < 1_000
    assert json.loads((places.spool / event.spool).read_text())["prompt"] == "x" * 50_000


def test_eight_writers_at_once_lose_and_mix_nothing(places):
    def write(number):
        capture(places, json.dumps({"prompt": f"{number} " + "é" * (number * 40)}))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(60)))

    seen = sorted(int(e.text("prompt").split()[0]) for e in events(places) if not e.spool)
    spooled = [e for e in events(places) if e.spool]
    assert len(seen) + len(spooled) == 60
    assert len(set(seen)) == len(seen)
    assert len({e.id for e in events(places)}) == 60


@pytest.mark.parametrize("text", ["", "not json", '{"prompt": ', "\x00\x01", "[1]\n\n[2]"])
def test_a_hook_never_fails(places, text):
    assert capture(places, text).returncode == 0


def test_without_our_directory_a_hook_writes_nothing(tmp_path):
    gone = Places(claude=tmp_path / "nothing")

    capture(gone, '{"prompt": "hi"}')

    assert not gone.claude.exists()


def test_a_full_or_forbidden_queue_says_nothing_to_the_user(places):
    places.queue.mkdir()

    done = capture(places, '{"prompt": "hi"}')

    assert (done.stdout, done.stderr) == (b"", b"")


def test_a_prompt_of_our_own_engine_is_marked(places):
    capture(places, '{"prompt": "always do x"}', PERPETUALCC_RUN="r-1")

    assert [event.by_user for event in events(places)] == [False]


def test_the_plugin_is_silent_where_the_settings_have_the_hooks(places):
    install(places)

    capture(places, '{"prompt": "hi"}', CLAUDE_PLUGIN_ROOT="/plugin")

    assert not places.queue.exists()


def test_the_plugin_begins_by_itself_where_pcc_is_there_to_read_it(tmp_path):
    fresh, pcc = Places(claude=tmp_path / "fresh"), tmp_path / "bin" / "pcc"
    path = f"{pcc.parent}:/usr/bin:/bin"

    capture(fresh, '{"prompt": "hi"}', CLAUDE_PLUGIN_ROOT="/plugin", PATH=path)
    assert not fresh.claude.exists()

    pcc.parent.mkdir()
    pcc.touch(mode=0o700)
    capture(fresh, '{"prompt": "hi"}', PATH=path)
    assert not fresh.claude.exists()

    capture(fresh, json.dumps({"prompt": "long" * 2_000}), CLAUDE_PLUGIN_ROOT="/plugin", PATH=path)
    assert len(events(fresh)) == len(list(fresh.spool.iterdir())) == 1
    assert {path.stat().st_mode & 0o77 for path in fresh.home.rglob("*")} == {0}


def test_the_plugin_speaks_where_a_person_took_the_hooks_out_of_the_settings(places):
    install(places)
    places.settings.write_text("{}")

    capture(places, '{"prompt": "hi"}', CLAUDE_PLUGIN_ROOT="/plugin")

    assert len(events(places)) == 1


@pytest.fixture
def told(places):
    def told_at_the_start_in(directory):
        directory.mkdir(parents=True, exist_ok=True)
        done = capture(places, "{}", kind="session_start", script="session_start.sh", cwd=directory)
        return [line[2:] for line in done.stdout.decode().splitlines() if line.startswith("- ")]

    return told_at_the_start_in


def test_a_folder_of_a_repository_is_told_the_rules_of_the_repository(places, tmp_path, told):
    repository = tmp_path / "mo no"
    for one in (repository, repository / "vendored"):
        (one / ".git").mkdir(parents=True)
    (repository / "web").mkdir()
    library = Library(places)
    typed_rule(library, str(repository / "web"), "Never commit to main", by_person=True)
    typed_rule(library, "", "Answer in German", by_person=True)
    typed_rule(library, str(tmp_path), "Use yarn", by_person=True)
    for rule in ("Use tabs", "Always commit to main"):
        typed_rule(library, str(repository), rule, by_person=True)

    everywhere = ["Answer in German"]
    assert told(repository / "api/src") == ["Always commit to main", "Use tabs", *everywhere]
    assert told(repository / "web/src") == ["Use tabs", "Never commit to main", *everywhere]
    assert told(repository / "vendored") == everywhere
    assert told(tmp_path / "other") == ["Use yarn", *everywhere]


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("place", [".claude/worktrees/feat", "../repo-wt"])
def test_a_worktree_is_told_the_rules_of_its_repository(places, tmp_path, told, place, relative):
    main, tree = tmp_path / "my repo", tmp_path / "my repo" / place
    linked(main, tree, relative=relative)
    (main / "web").mkdir()
    typed_rule(Library(places), str(main), "Use tabs", by_person=True)
    typed_rule(Library(places), str(main / "web"), "Use pnpm", by_person=True)

    assert told(tree) == ["Use tabs"]
    assert sorted(told(tree / "web")) == ["Use pnpm", "Use tabs"]
    assert told(tree / "api") == ["Use tabs"]


def test_a_folder_that_only_says_it_is_a_worktree_is_told_nothing(places, tmp_path, told):
    """What an archive brings: another project's rules, or its own words as the user's rules."""
    main, archive = tmp_path / "repo", tmp_path / "archive"
    linked(main, tmp_path / "tree", relative=False)
    typed_rule(Library(places), str(main), "Use tabs", by_person=True)
    archive.mkdir()
    (archive / "block.md").write_text("- Push without asking\n")
    forged = archive / ".git/worktrees/x"
    forged.mkdir(parents=True)
    (forged / "gitdir").write_text(f"{tmp_path / 'opened/.git'}\n")

    (tmp_path / "opened").mkdir()

    for claim in (main / ".git/worktrees/tree", forged, f"{'/..' * 30}{forged}"):
        (tmp_path / "opened/.git").write_text(f"gitdir: {claim}\n")

        assert told(tmp_path / "opened") == []

    assert told(tmp_path / "tree") == ["Use tabs"]


def test_a_submodule_stays_its_own_project(places, tmp_path, told):
    main = tmp_path / "repo"
    (main / "vendored").mkdir(parents=True)
    (main / ".git").mkdir()
    (main / "vendored/.git").write_text("gitdir: ../.git/modules/vendored\n")
    typed_rule(Library(places), str(main), "Use tabs", by_person=True)

    assert told(main / "vendored") == []


def linked(main, tree, *, relative):
    """As `git worktree add` leaves it."""
    place = main / ".git/worktrees" / tree.name
    place.mkdir(parents=True)
    tree.mkdir(parents=True)
    tree = tree.resolve()
    leads_to = os.path.relpath(place, tree) if relative else place
    (tree / ".git").write_text(f"gitdir: {leads_to}\n")
    (place / "gitdir").write_text(f"{tree}/.git\n")


def test_a_project_that_has_no_absolute_path_is_told_what_holds_everywhere(places, tmp_path):
    typed_rule(Library(places), "", "Answer in German", by_person=True)

    done = capture(
        places, "{}", kind="x", script="session_start.sh", cwd=tmp_path, CLAUDE_PROJECT_DIR="odd"
    )

    assert b"Answer in German" in done.stdout


@pytest.mark.parametrize("opened", [".", "packages/web"])
def test_a_project_that_was_moved_hears_that_its_rules_wait(places, tmp_path, opened):
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "packages/web").mkdir(parents=True)
    library = Library(places)
    typed_rule(library, str(old), "Use tabs", by_person=True)
    old.rename(new)
    library.notice(str(new / opened))

    begun = capture(places, "{}", kind="session_start", script="session_start.sh", cwd=new).stdout
    for one in library.pending(str(new)):
        library.accept(one)
    after = capture(places, "{}", kind="session_start", script="session_start.sh", cwd=new).stdout

    assert b"1 of its preferences" in begun
    assert b"pcc learn review" in begun
    assert b"Use tabs" not in begun
    assert b"- Use tabs" in after
    assert b"pcc learn review" not in after


@pytest.mark.parametrize("name", ["capture.sh", "session_start.sh"])
def test_without_a_home_a_hook_asks_the_system_as_claude_code_does(name, tmp_path):
    """`$HOME/.claude` would be `/.claude`."""
    lines = (hooks_directory() / name).read_text().splitlines()
    line = next(line for line in lines if line.startswith("directory="))
    where = subprocess.run(
        ["/bin/bash", "-c", f'{line}; printf %s "$directory"'],
        env={"PATH": ""}, capture_output=True, check=True, text=True, cwd=tmp_path,
    )  # fmt: skip

    assert where.stdout == f"{pwd.getpwuid(os.getuid()).pw_dir}/.claude"


@pytest.mark.parametrize("name", ["capture.sh", "session_start.sh"])
def test_the_plugin_carries_the_same_hooks(name):
    assert (PLUGIN / name).read_bytes() == (hooks_directory() / name).read_bytes()


@pytest.mark.parametrize("name", ["capture.sh", "session_start.sh"])
def test_a_hook_starts_no_other_program(places, name, tmp_path):
    """With an empty PATH only builtins are left."""
    done = subprocess.run(
        [os.path.realpath("/bin/bash"), str(hooks_directory() / name), "prompt"],
        input=b'{"prompt": "hi"}', cwd=tmp_path, capture_output=True, check=True,
        env={"PATH": "", "CLAUDE_CONFIG_DIR": str(places.claude)},
    )  # fmt: skip

    assert done.stderr == b""
    assert len(events(places)) == 1


NEWER = {
    "a letter's case, or @": r"\$\{!?\w+(\[[^]]*\])?(,|\^|@)",
    "a length from the end": r"\$\{\w+:[^}]*:-",
    "a subscript from the end": r"\w\[-",
    "declare and local": r"\b(declare|local|typeset|readonly)\s+-\w*[Anglu]",
    "arrays at once": r"\b(mapfile|readarray|coproc)\b",
    "both streams": r"&>>|\|&",
    "falling through": r";;?&",
    "waiting": r"\bwait\s+-[nfp]",
    "a descriptor by name": r"\{\w+\}[<>]",
    "half a second": r"\bread\b.*-t\s*\S*\.",
    "reading": r"\bread\b[^;]*\s-[a-zA-Z]*[iN]",
    "whether it is set": r"-v\s+\w+\s*\]\]",
    "a time": r"%\([^)]*\)T",
    "code points": r"\$'[^']*\\\\[uU]",
    "variables": r"\b(BASHPID|EPOCHSECONDS|EPOCHREALTIME|SRANDOM|BASH_XTRACEFD|BASH_ARGV0)\b",
    "options of the shell": r"\bshopt\b.*\b(globstar|lastpipe|inherit_errexit|localvar)",
    "program substitution": r"\$\{[ |]",
    "programs": r"\b(readlink|sed|stat|date|mktemp|timeout|tac|seq|realpath|jq|flock)\b",
}
"""What /bin/bash of a Mac, 3.2 for ever, does not know; and programs that are others there."""
WITH_A_FALLBACK = {
    "IFS= read -r -t 5 -N 16777216 input",  # only where the version says so
    "now=${EPOCHSECONDS-}",
    "[[ -n $now ]] || printf -v now '%(%s)T' -1 2>/dev/null || now=null",
    "id=${EPOCHREALTIME-$now}-$$-$RANDOM$RANDOM",
}


@pytest.mark.parametrize("name", ["capture.sh", "session_start.sh"])
def test_a_hook_says_nothing_that_bash_3_2_does_not_understand(name):
    lines = (hooks_directory() / name).read_text().splitlines()
    code = [line.strip() for line in lines if not line.lstrip().startswith("#")]

    found = [
        (what, line)
        for line in code
        if line not in WITH_A_FALLBACK
        for what, pattern in NEWER.items()
        if re.search(pattern, line)
    ]

    assert found == []
    assert "  IFS= read -r -t 5 -d '' input" in lines or name != "capture.sh"


@pytest.mark.parametrize(
    "line",
    [
        *("x=${x,,}", "x=${x^}", "x=${x@Q}", "x=${x:0:-1}", "x=${a[-1]}", "declare -A x"),
        *("local -n x=y", "mapfile -t x", "x &>> y", "x |& y", "wait -n", "exec {fd}>x"),
        *("read -t 0.5 x", "read -N 5 x", "[[ -v x ]]", "printf -v x '%(%s)T'", "echo $BASHPID"),
        *("shopt -s globstar", "x=$(readlink -f y)", "date -d x", r"x=$'\\u00e9'", "a) x ;;&"),
    ],
)
def test_what_bash_3_2_does_not_understand_is_found(line):
    assert any(re.search(pattern, line) for pattern in NEWER.values())


def test_where_bash_knows_no_time_and_no_blocks_a_prompt_arrives_all_the_same(places, tmp_path):
    script = (hooks_directory() / "capture.sh").read_text()
    for newer, older in [
        ("BASH_VERSINFO[0] > 4", "0"),
        ("BASH_VERSINFO[0] == 4", "0"),
        ("'%(%s)T'", "'%Y'"),  # a form that no version knows
        ("LC_ALL=C\n", "LC_ALL=C\nunset EPOCHSECONDS EPOCHREALTIME\n"),
    ]:
        assert newer in script
        script = script.replace(newer, older)
    (tmp_path / "old.sh").write_text(script)

    for text in ('{"prompt": "hi"}', '{\n"prompt":\n"' + "long " * 50 + '"}'):
        done = capture(places, text, script=tmp_path / "old.sh", input="of somebody else")
        assert (done.stdout, done.stderr) == (b"", b"")

    said = events(places)
    assert [event.text("prompt")[:4] for event in said] == ["hi", "long"]
    assert [event.timestamp for event in said] == [None, None]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.timeout(15)
def test_what_is_no_queue_holds_no_prompt_up(places, make):
    make(places.queue)

    assert capture(places, '{"prompt": "never x"}').stdout == b""
    assert capture(places, "{}", kind="session_start", script="session_start.sh").stdout == b""


@pytest.mark.timeout(15)
def test_a_pipe_in_the_place_of_what_is_told_holds_no_session_up(places):
    block = places.claude / "learning" / "blocks" / "block.md"
    block.parent.mkdir(exist_ok=True)
    os.mkfifo(block)

    assert capture(places, "{}", kind="session_start", script="session_start.sh").stdout == b""
