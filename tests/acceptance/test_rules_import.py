"""What a person has allowed in Claude Code becomes rules of theirs, after they have seen it."""

import json

import pytest

OWN = ["Bash(docker compose:*)", "Bash(git status)", "WebFetch(domain:example.org)", "Bash"]
LOCAL = [
    "Bash(npm run test:*)",
    "mcp__linear__create_issue",
    "Bash(docker exec web ls)",
    "Bash(rm -rf build && npm run build)",
    'Bash(echo "a)',
    "Bash(* --version)",
    "mcp__figma",
    "mcp__figma__*",
    5,
]


@pytest.fixture
def pcc(install, claude_world):
    made = install("steps: [Done.]")
    allow(claude_world.home / ".claude" / "settings.json", OWN)
    allow(made.project / ".claude" / "settings.local.json", LOCAL)
    return made


def allow(file, entries):
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"permissions": {"allow": entries, "deny": ["Bash(ls)"]}}))


def rules(pcc):
    found = pcc.json("rules", "list")
    return {(one["subject"], one["pattern"], one["project"], one["effect"]) for one in found}


def test_only_what_is_neither_harmless_nor_dangerous_becomes_a_rule(pcc):
    place = str(pcc.project)

    dry = pcc.pcc("rules", "import", place, "--dry-run").stdout
    nothing = rules(pcc)
    said = pcc.pcc("rules", "import", place, "--yes").stdout
    again = pcc.pcc("rules", "import", place, "--yes").stdout

    assert nothing == set()
    assert rules(pcc) == {
        ("command", "docker compose", "", "allow"),
        ("line", "docker exec web ls", place, "allow"),
        ("kind", "tool mcp__linear__create_issue", place, "allow"),
    }
    assert not any(one["includes_high"] for one in pcc.json("rules", "list"))
    assert "2 LOW as they are, and need none: Bash(git status), Bash(npm run test:*)" in dry
    assert "1 HIGH, and stay yours to decide" in dry
    assert "6 not said so here" in dry
    assert "Made 3 rules" in said
    assert "3 rules of these you have already" in again
    assert "Made" not in again
    call = ["explain", "bash", "docker compose up -d", "--project", place]
    assert pcc.json(*call)["verdict"] == "allow"


def test_nobody_is_asked_where_there_is_no_terminal_and_no_agent_makes_rules(pcc):
    place = str(pcc.project)

    unasked = pcc.pcc("rules", "import", place, check=False)
    pcc.environment["CLAUDECODE"] = "1"
    agent = pcc.pcc("rules", "import", place, "--yes", check=False)
    del pcc.environment["CLAUDECODE"]

    assert "nobody can be asked" in unasked.stderr
    assert "Only a person makes rules" in agent.stderr
    assert rules(pcc) == set()


@pytest.mark.parametrize("text", ["{", "[1]", '{"permissions": {"allow": "Bash"}}', "[" * 100_000])
def test_a_settings_file_that_says_nothing_makes_no_rule(pcc, text):
    (pcc.project / ".claude" / "settings.local.json").write_text(text)

    done = pcc.pcc("rules", "import", str(pcc.project), "--yes", check=False)

    is_json = text in {"[1]", '{"permissions": {"allow": "Bash"}}'}
    assert done.returncode == (0 if is_json else 1)
    assert is_json or "cannot be read: it is no JSON" in done.stderr
    assert rules(pcc) == ({("command", "docker compose", "", "allow")} if is_json else set())
