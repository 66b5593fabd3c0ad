"""What becomes of a remark: accepted, rejected, forgotten, told to new sessions."""

import dataclasses
import threading
from pathlib import Path

import pytest

from perpetualcc.learning.library import Library, NoSuchPreference, SeveralPreferences
from perpetualcc.learning.preferences import Status
from perpetualcc.learning.process import typed_rule
from tests.fakes.preferences import preference


def test_the_newest_accepted_rule_wins_within_its_scope(library, project):
    library.remember(project, preference(prefers={"f": "pnpm"}), event="1")
    library.accept(library.all(project)[0])
    library.remember(project, preference("Use yarn instead", prefers={"f": "yarn"}), event="2")
    library.accept(next(one for one in library.all(project) if "yarn" in one.preference.rule))

    assert [one.preference.status for one in library.all(project)] == [
        Status.SUPERSEDED,
        Status.ACCEPTED,
    ]


def test_what_an_older_version_took_for_wanted_is_read_as_refused(library, project, places):
    """It wrote `prefers: main` for "Never commit to main", and so counted the contrary as a yes."""
    typed_rule(library, project, "Never commit to main", by_person=True)
    path = places.memory(project)
    path.write_text(path.read_text().replace('"prefers": {}', '"prefers": {"branches": "main"}'))

    (read,) = library.all(project)
    library.remember(project, preference("Always commit to main", at=2.0), event="2")

    assert library.is_accepted(read)
    assert [(one.preference.seen, one.preference.confidence) for one in library.all(project)] == [
        (1, 0.49),
        (1, 0.8),
    ]


def test_a_typed_contrary_takes_the_place_of_a_rule(library, project, places):
    for rule in ("Don't use npm", "Use npm"):
        typed_rule(library, project, rule, by_person=True)

    assert [one.preference.status for one in library.all(project)] == [
        Status.SUPERSEDED,
        Status.ACCEPTED,
    ]
    assert "Don't" not in places.block(project).read_text()


def test_a_typed_rule_for_one_place_stands_beside_the_general_one(library, project, places):
    for rule in ("Don't use npm", "Use npm for scripts in tools/"):
        typed_rule(library, project, rule, by_person=True)

    told = places.block(project).read_text()
    assert "- Don't use npm\n" in told
    assert "- Use npm for scripts in tools/\n" in told


def test_a_projects_rule_goes_before_the_contrary_one_of_every_project(library, project, places):
    typed_rule(library, "", "Never commit to main", by_person=True)
    typed_rule(library, "", "Answer in German", by_person=True)
    typed_rule(library, project, "Always commit to main", by_person=True)

    told = places.block(project).read_text()
    assert "Always commit to main" in told
    assert "Answer in German" in told
    assert "Never" not in told
    assert "Never commit to main" in places.block().read_text()


def test_new_words_are_what_a_rule_wants_from_then_on(library, project):
    library.remember(project, preference(prefers={"node_packages": "pnpm"}), event="1")
    library.accept(library.all(project)[0], rule="Use yarn, not npm")
    library.remember(project, preference("Use pnpm", prefers={"node_packages": "pnpm"}), event="2")

    assert [one.preference.prefers for one in library.all(project)] == [
        {"node_packages": "yarn"},
        {"node_packages": "pnpm"},
    ]


def test_a_rejected_rule_does_not_come_back(library, project, places):
    library.remember(project, preference(), event="1")
    library.reject(library.all(project)[0])
    library.remember(project, preference(), event="2")

    assert [one.preference.status for one in library.all(project)] == [Status.REJECTED]
    assert not places.block(project).exists()


def test_an_accepted_rule_is_told_to_its_project_only(library, project, places):
    library.remember(project, preference(), event="1")
    library.accept(library.all(project)[0])

    assert "- Use pnpm, not npm" in places.block(project).read_text()
    assert not places.block().exists()


def test_a_global_rule_is_told_everywhere_and_after_the_projects_own(library, project, places):
    library.remember(project, preference(), event="1")
    library.remember(project, preference("Answer in German", scope="global"), event="2")
    for one in library.all(project):
        library.accept(one)

    told = places.block(project).read_text()
    assert told.index("pnpm") < told.index("German")
    assert "German" in places.block().read_text()
    assert "pnpm" not in places.block().read_text()


def test_a_rule_that_holds_everywhere_is_told_once(library, project):
    typed_rule(library, "", "Never use npm", by_person=True)
    typed_rule(library, project, "Don't use npm", by_person=True)

    assert [one.rule for one in library.told(project)] == ["Don't use npm"]


def test_an_unknown_id_says_where_to_look(library):
    with pytest.raises(NoSuchPreference, match="ffff"):
        library.find("ffff")


def test_contrary_rules_of_the_same_words_have_ids_of_their_own(library, project):
    pnpm = preference("Use pnpm, not npm", prefers={"f": "pnpm"})
    npm = preference("Use npm, not pnpm", prefers={"f": "npm"})
    library.remember(project, pnpm, event="1")
    library.remember(project, npm, event="2")

    first, second = library.all(project)
    library.accept(second)

    assert first.preference.id != second.preference.id
    assert [one.preference.rule for one in library.all(project)] == [pnpm.rule, npm.rule]


def test_an_id_of_several_projects_is_found_with_the_project(library, project, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    for home in (project, str(other)):
        library.remember(home, preference(), event="1")
    identity = preference().id

    with pytest.raises(SeveralPreferences, match="2 preferences") as error:
        library.find(identity)
    with pytest.raises(NoSuchPreference):
        library.find("")

    assert project in error.value.hint
    assert library.find(identity, str(other)).project == str(other)


def test_a_global_and_a_projects_rule_of_one_id_are_told_apart(library, project):
    same = preference(id="abcd1234")
    library.remember(project, same, event="1")
    library.remember(project, dataclasses.replace(same, scope="global"), event="2")

    assert library.find("abcd", project).project == project
    assert library.find("abcd", "").project == ""


def test_new_words_with_a_secret_are_redacted(library, project):
    library.remember(project, preference(), event="1")

    accepted = library.accept(library.all(project)[0], rule="Use ghp_" + "a1" * 20)

    assert "ghp_" not in accepted.rule


def test_what_is_accepted_for_the_folders_above_need_not_be_reviewed_below(library, tmp_path):
    inner = tmp_path / "repository" / "package"
    inner.mkdir(parents=True)
    typed_rule(library, str(inner.parent), "Use tabs", by_person=True)

    library.put(str(inner), preference("Use tabs"))

    assert library.pending() == library.pending(str(inner)) == []


def test_a_project_that_is_away_keeps_what_its_sessions_are_told(library, project, places):
    typed_rule(library, project, "Use tabs", by_person=True)
    away = Path(project).rename(f"{project} away")

    typed_rule(library, "", "Never use npm", by_person=True)
    away.rename(project)

    assert "Use tabs" in places.block(project).read_text()


def test_of_two_who_publish_the_last_rule_is_told(library, project, places, monkeypatch):
    told, others = Library.told, []

    def slow(self, home):
        rules = told(self, home)
        if not others:
            others.append(threading.Thread(target=type_another))
            others[0].start()
            others[0].join(timeout=1)
        return rules

    def type_another():
        typed_rule(Library(places), project, "Never use npm", by_person=True)

    monkeypatch.setattr(Library, "told", slow)
    typed_rule(library, project, "Use tabs", by_person=True)
    others[0].join()

    assert "Never use npm" in places.block(project).read_text()


def test_what_was_said_while_a_person_reviewed_is_not_lost(library, project):
    library.remember(project, preference(), event="1")
    library.remember(project, preference("Use tabs"), event="2")
    looked_at = library.all(project)
    library.remember(project, preference(), event="3")
    library.remember(project, preference("Use tabs"), event="4")

    library.accept(looked_at[0])
    library.reject(looked_at[1])

    assert [(one.preference.seen, one.preference.status) for one in library.all(project)] == [
        (2, Status.ACCEPTED),
        (2, Status.REJECTED),
    ]


def test_what_was_forgotten_meanwhile_is_not_accepted(library, project):
    library.remember(project, preference(), event="1")
    (looked_at,) = library.all(project)
    library.forget(looked_at)

    with pytest.raises(NoSuchPreference):
        library.accept(looked_at)
    assert library.all(project) == []
