"""The tools through which Claude reads memory."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from perpetualcc.cli.memory_server import build
from perpetualcc.domain.locations import Locations
from perpetualcc.learning.library import Library
from perpetualcc.learning.places import Places
from perpetualcc.learning.process import typed_rule


@pytest.mark.parametrize("named", [".", "{project}/", "{link}", "~/project", "~/link"])
def test_a_project_is_known_by_every_path_that_leads_to_it(tmp_path, monkeypatch, named):
    project, link, places = tmp_path / "project", tmp_path / "link", Places(claude=tmp_path / "c")
    project.mkdir()
    link.symlink_to(project)
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path))
    typed_rule(Library(places), str(project), "Use tabs", by_person=True)
    typed_rule(Library(places), "", "Answer briefly", by_person=True)
    server = build(Locations(data=tmp_path / "data"), places)
    asked = {"project": named.format(project=project, link=link)}

    rules = asyncio.run(server.call_tool("preferences", asked)).structured_content["rules"]
    facts = asyncio.run(server.call_tool("project_facts", asked)).structured_content["facts"]

    assert sorted(one["rule"] for one in rules) == ["Answer briefly", "Use tabs"]
    assert sorted(one["fact"] for one in facts) == ["Answer briefly", "Use tabs"]


def test_claude_is_told_what_a_person_can_do_about_it(tmp_path):
    places = Locations(data=tmp_path / "data").prepare()
    with closing(sqlite3.connect(places.database)) as newer:
        newer.execute("PRAGMA user_version = 99999")
    server = build(places, Places(claude=tmp_path / "c"))

    with pytest.raises(ToolError, match=r"newer version.*; "):
        asyncio.run(server.call_tool("search_episodes", {"situation": "npm fails"}))


@pytest.mark.parametrize("project", ["/a\0b", "/" + "a" * 5000, "/" + "a/" * 3000])
@pytest.mark.timeout(20)
def test_a_path_that_can_be_none_is_refused_in_words(tmp_path, project):
    server = build(Locations(data=tmp_path / "data"), Places(claude=tmp_path / "c"))

    for tool in ("preferences", "project_facts"):
        with pytest.raises(ToolError, match="No folder can be called"):
            asyncio.run(server.call_tool(tool, {"project": project}))
