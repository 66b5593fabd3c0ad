"""Memory over its fake and over SQLite: the same promises (seed 000, Phase 8)."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.domain.episodes import Episode, Provenance
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import SessionId
from perpetualcc.memory import (
    EpisodicMemory,
    FactCategory,
    ProceduralMemory,
    Procedure,
    SemanticMemory,
    episodic,
    exact_trigger,
    raised,
)
from perpetualcc.memory.terms import terms_of
from perpetualcc.store.database import Database
from perpetualcc.store.episode_index import SLICE
from perpetualcc.store.episodes import SqliteEpisodes
from perpetualcc.store.facts import SqliteFacts
from perpetualcc.store.procedures import SqliteProcedures
from tests.fakes.memory import NO_MODEL, EpisodesInMemory, ProceduresInMemory

TEN = [
    ("question", "Should I use PostgreSQL or SQLite for the database?", "PostgreSQL"),
    ("question", "Which test runner do you want, jest or vitest?", "vitest"),
    ("tool", "Bash: rm -rf build/", "allowed"),
    ("tool", "Bash: git push --force origin main", "denied"),
    ("tool", "Write src/auth/session.ts", "allowed"),
    ("error", "npm install fails with EACCES permission denied", "fixed ownership of node_modules"),
    ("error", "pytest cannot import module conftest", "added __init__"),
    ("question", "登录页面应该放在哪个目录？", "src/pages"),
    ("question", "Wie soll die Datenbank heißen?", "kunden"),
    ("limit", "5-hour limit reached", "waited"),
]


def episode(event_type="question", context="x", action="y", **more):
    settled = {
        "session": SessionId("s1"), "timestamp": time.time(), "event_type": event_type,
        "context": context, "action": action, "outcome": "success", "rationale": "",
    }  # fmt: skip
    return Episode(**(settled | more))


@pytest.fixture(params=["fake", "sqlite"])
def run(request, tmp_path):
    """Run a scenario with an episode table and a procedure table."""

    def play(scenario):
        async def with_tables():
            if request.param == "fake":
                return await scenario(EpisodesInMemory(), ProceduresInMemory())
            async with await Database.open(tmp_path / "memory.db") as database:
                return await scenario(SqliteEpisodes(database), SqliteProcedures(database))

        return asyncio.run(with_tables())

    return play


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("PostgreSQL or SQLite database", "PostgreSQL"),
        ("vitest or jest", "vitest"),
        ("git push --force", "denied"),
        ("EACCES during npm install", "fixed ownership of node_modules"),
        ("登录页面放在哪里", "src/pages"),
        ("Name der Datenbank", "kunden"),
        ("session.ts", "allowed"),
    ],
)
def test_of_ten_episodes_the_one_that_resembles_comes_first(run, query, expected):
    async def scenario(episodes, _):
        memory = EpisodicMemory(episodes, NO_MODEL)
        for kind, context, action in TEN:
            await memory.record_episode(episode(kind, context, action))
        return await memory.find_similar(query, top_k=3)

    found = run(scenario)

    assert found[0].episode.action == expected
    assert len(found) <= 3
    assert all(0.0 <= one.similarity <= 1.0 for one in found)


def test_what_is_trusted_more_comes_first(run):
    async def scenario(episodes, _):
        memory = EpisodicMemory(episodes, NO_MODEL)
        for origin in (Provenance.USER, Provenance.WEB, Provenance.TOOL):
            await memory.record_episode(episode(context="deploy the shop", provenance=origin))
        return [one.episode.provenance for one in await memory.find_similar("deploy the shop")]

    assert run(scenario) == [Provenance.USER, Provenance.TOOL, Provenance.WEB]


def test_a_project_sees_its_own_episodes_when_it_asks_for_them(run):
    async def scenario(episodes, _):
        memory = EpisodicMemory(episodes, NO_MODEL)
        await memory.record_episode(episode(context="deploy", project="/a"))
        await memory.record_episode(episode(context="deploy", project="/b"))
        return [one.episode.project for one in await memory.find_similar("deploy", project="/a")]

    assert run(scenario) == ["/a"]


class Animals:
    """Knows an animal when it sees one, in two languages; `asked` is what it was given."""

    def __init__(self, model="zoo"):
        self.name, self.asked, self.trouble = model, [], None

    async def model(self):
        return self.name

    async def embed(self, text):
        if self.trouble:
            raise self.trouble
        return [1.0, 0.0] if "Tier" in text or "animal" in text else [0.0, 1.0]

    async def embed_batch(self, texts):
        self.asked += texts
        return [await self.embed(text) for text in texts]


def test_an_embedder_finds_what_words_do_not_tell_apart(run):
    async def scenario(episodes, _):
        memory = EpisodicMemory(episodes, Animals())
        await memory.record_episode(episode(context="deploy das Auto"))
        await memory.record_episode(episode(context="deploy das Tier"))
        return [one.episode.context for one in await memory.find_similar("deploy the animal")]

    assert run(scenario)[0] == "deploy das Tier"


def test_an_embedder_finds_what_has_no_word_in_common_and_nothing_else(run):
    async def scenario(episodes, _):
        memory = EpisodicMemory(episodes, Animals())
        await memory.record_episode(episode(context="das Auto", project="/a"))
        await memory.record_episode(episode(context="das Tier", project="/a"))
        await memory.record_episode(episode(context="ein Tier", project="/b"))
        found = await memory.find_similar("that animal", project="/a")
        by_words = await EpisodicMemory(episodes, NO_MODEL).find_similar(
            "that animal", project="/a"
        )
        return [one.episode.context for one in found], by_words

    assert run(scenario) == (["das Tier"], [])


def test_each_episode_has_one_vector_from_each_model(run):
    async def scenario(episodes, _):
        await EpisodicMemory(episodes, NO_MODEL).record_episode(episode(context="das Tier"))
        first, second = Animals(), Animals("another")
        asked = []
        for embedder in (first, first, second, second, first):
            before = len(embedder.asked)
            await EpisodicMemory(episodes, embedder).find_similar("that animal")
            asked.append(len(embedder.asked) - before)
        return asked

    assert run(scenario) == [1, 0, 1, 0, 1]


def test_words_do_where_the_model_cannot_be_asked(run):
    async def scenario(episodes, _):
        embedder = Animals()
        embedder.trouble = PerpetualError("no model")
        memory = EpisodicMemory(episodes, embedder)
        await memory.record_episode(episode(context="deploy das Tier"))
        return [one.similarity for one in await memory.find_similar("deploy das Tier")]

    assert run(scenario) == [0.8]


def test_a_model_that_takes_long_is_waited_for_a_while_and_gets_on_each_time(run, monkeypatch):
    monkeypatch.setattr(episodic, "_PATIENCE", 0.2)

    class Slow(Animals):
        async def embed_batch(self, texts):
            if self.asked:
                await asyncio.sleep(10)
            return await super().embed_batch(texts)

    async def scenario(episodes, _):
        for number in range(40):
            await EpisodicMemory(episodes, NO_MODEL).record_episode(
                episode(context=f"Tier {number}")
            )
        found = [await EpisodicMemory(episodes, Slow()).find_similar("animal") for _ in range(3)]
        last = Slow()
        await EpisodicMemory(episodes, last).find_similar("animal")
        return [bool(one) for one in found], last.asked

    assert run(scenario) == ([True, True, True], [])


def test_recent_is_newest_first_and_of_one_session(run):
    async def scenario(episodes, _):
        memory = EpisodicMemory(episodes, NO_MODEL)
        for number in range(5):
            await memory.record_episode(episode(action=str(number)))
        await memory.record_episode(episode(session=SessionId("s2")))
        return [one.action for one in await memory.get_recent("s1", limit=3)]

    assert run(scenario) == ["4", "3", "2"]


def test_the_less_trusted_is_forgotten_sooner_unless_it_was_useful(run):
    async def scenario(episodes, _):
        memory = EpisodicMemory(episodes, NO_MODEL)
        old = time.time() - 200 * 86_400
        for origin in Provenance:
            await memory.record_episode(
                episode(context=f"from {origin}", timestamp=old, provenance=origin)
            )
        await memory.mark_useful(await memory.find_similar("tool"), time.time())
        gone = await memory.forget_old(time.time())
        return gone, [one.provenance for one in await memory.get_recent("s1")]

    gone, left = run(scenario)

    assert gone == 1
    assert left == [Provenance.TOOL, Provenance.REPOSITORY, Provenance.USER]


@pytest.mark.parametrize("count", [SLICE - 1, SLICE, 3 * SLICE + 5])
def test_every_episode_is_found_at_once_and_forgotten_whole_however_many_there_are(run, count):
    async def scenario(episodes, _):
        memory, old = EpisodicMemory(episodes, NO_MODEL), time.time() - 200 * 86_400
        late = []
        for number in range(count):
            await memory.record_episode(
                episode(context=f"deploy unique{number}", timestamp=old, project=str(number))
            )
            [found, *_rest] = await memory.find_similar(f"unique{number}")
            late += [number] * (found.episode.project != str(number))
        newest = (await episodes.with_terms(["deploy"], 10))["deploy"]
        everyone = [await memory.find_similar(f"unique{number}") for number in range(count)]
        gone = await memory.forget_old(time.time())
        left = await memory.find_similar("deploy unique1 unique2")
        await memory.record_episode(episode(context="deploy again"))
        after = await memory.find_similar("deploy unique1")
        return late, newest, everyone, gone, left, [one.episode.context for one in after]

    late, newest, everyone, gone, left, after = run(scenario)

    assert late == []
    assert newest == list(range(count, count - 10, -1))
    assert [found[0].episode.project for found in everyone] == [str(one) for one in range(count)]
    assert (gone, left, after) == (count, [], ["deploy again"])


def test_confidence_goes_up_slowly_and_down_fast_within_its_bounds(run):
    async def scenario(_, procedures):
        memory = ProceduralMemory(procedures)
        await memory.add_procedure("question", "*database*", "PostgreSQL")
        seen = []
        for outcome in ["success"] * 2 + ["failure"] + ["success"] * 20 + ["failure"] * 20:
            await memory.update_procedure("*database*", outcome)
            seen.append((await memory.get_procedures("question"))[0].confidence)
        return seen, (await memory.get_procedures("question"))[0]

    seen, last = run(scenario)

    assert seen[:3] == [0.55, 0.6, 0.5]
    assert (max(seen), min(seen)) == (0.99, 0.1)
    assert (last.success_count, last.failure_count) == (22, 21)


def test_the_surest_procedure_that_fits_is_matched(run):
    async def scenario(_, procedures):
        memory = ProceduralMemory(procedures)
        await memory.add_procedure("question", "*database*", "ask", 0.4)
        await memory.add_procedure("question", "/(?i)postgres/", "PostgreSQL", 0.9)
        await memory.add_procedure("error", "*", "retry", 0.95)
        both = await memory.match_procedure("question", "which database, Postgres?")
        one = await memory.match_procedure("question", "which database?")
        return both.action, one.action, await memory.match_procedure("question", "colour?")

    assert run(scenario) == ("PostgreSQL", "ask", None)


def test_a_procedure_of_a_project_is_not_for_another(run):
    async def scenario(_, procedures):
        memory = ProceduralMemory(procedures)
        await memory.add_procedure("question", "which?", "this", project="/a")
        await memory.add_procedure("question", "which?", "that", project="/b")
        await memory.add_procedure("question", "*?", "ask", 0.2)
        found = [
            await memory.match_procedure("question", "which?", one) for one in ("/a", "/b", "/c")
        ]
        return [one.action for one in found]

    assert run(scenario) == ["this", "that", "ask"]


@pytest.mark.parametrize("text", ["a?", "[x]* why?", "/usr/", "/", "which **one**?", "数据库？"])
def test_an_exact_trigger_fits_its_text_and_no_other(run, text):
    async def scenario(_, procedures):
        memory = ProceduralMemory(procedures)
        await memory.add_procedure("question", exact_trigger(text), "yes")
        others = [text + "x", "x" + text, text[:-1], ""]
        return [await memory.match_procedure("question", one) for one in (text, *others)]

    first, *others = run(scenario)

    assert first is not None
    assert others == [None] * 4


@given(
    st.floats(min_value=0, max_value=1, allow_nan=False),
    st.floats(min_value=0.1, max_value=0.99, allow_nan=False),
)
def test_experience_never_makes_less_sure_nor_surer_than_it_is_itself(confidence, experience):
    known = Procedure(
        id=1, event_type="question", trigger_pattern="*", action="x", confidence=experience
    )

    result = raised(confidence, known)

    assert result >= round(confidence, 4) - 0.0001
    assert result <= max(confidence, experience) + 0.0001
    assert raised(0.0, known) == 0.0


def test_a_trigger_that_is_no_regular_expression_is_refused(run):
    async def scenario(_, procedures):
        with pytest.raises(ValueError, match="regular expression"):
            await ProceduralMemory(procedures).add_procedure("question", "/(/", "x")

    run(scenario)


def test_facts_are_kept_once_the_better_source_counts_and_no_tool_sets_a_preference(tmp_path):
    async def scenario():
        database = await Database.open(tmp_path / "memory.db")
        memory = SemanticMemory(SqliteFacts(database))
        convention = FactCategory.CONVENTION
        await memory.add_fact("/p", convention, "2 spaces", "web page", Provenance.WEB)
        await memory.add_fact("/p", convention, "2 spaces", ".editorconfig", Provenance.REPOSITORY)
        await memory.add_fact("/p", convention, "2 spaces", "ls", Provenance.TOOL)
        await memory.add_fact("/p", FactCategory.DECISION, "SQLite", "s1", Provenance.USER)
        with pytest.raises(ValueError, match="typed"):
            await memory.add_fact("/p", FactCategory.PREFERENCE, "x", "page", Provenance.WEB)
        everything = await memory.get_facts("/p")
        conventions = await memory.get_facts("/p", convention)
        await database.close()
        return everything, conventions

    everything, conventions = asyncio.run(scenario())

    assert [one.fact for one in everything] == ["SQLite", "2 spaces"]
    assert [one.source for one in conventions] == [".editorconfig"]


def test_a_fact_from_elsewhere_goes_when_nobody_was_told_it_for_long(tmp_path):
    async def scenario():
        database = await Database.open(tmp_path / "memory.db")
        memory = SemanticMemory(SqliteFacts(database))
        for source in Provenance:
            await memory.add_fact("/p", FactCategory.DECISION, f"old {source}", "s", source)
        web = await memory.add_fact("/p", FactCategory.DECISION, "told", "s", Provenance.WEB)
        later = time.time() + 200 * 86_400
        told = [one for one in await memory.get_facts("/p") if one.id == web]
        await memory.mark_useful(told, later - 86_400)
        gone = await memory.forget_old(later)
        left = await memory.get_facts("/p")
        await database.close()
        return gone, left, later

    gone, left, later = asyncio.run(scenario())

    assert gone == 2
    assert [one.fact for one in left] == ["old user", "old repository", "told"]
    assert [one.last_useful for one in left] == [None, None, later - 86_400]


def test_secrets_are_not_kept(tmp_path):
    async def scenario():
        database = await Database.open(tmp_path / "memory.db")
        memory = EpisodicMemory(SqliteEpisodes(database), NO_MODEL)
        await memory.record_episode(episode(context="token ghp_" + "a1" * 20))
        found = await memory.get_recent("s1")
        await database.close()
        return found[0].context

    assert asyncio.run(scenario()) == "token [redacted]"


def test_terms_are_words_the_parts_of_names_and_pairs_of_unspaced_script():
    assert terms_of("the parseDate() of Müller, 登录页") == [
        "parsedate", "parse", "date", "muller", "登录", "录页"
    ]  # fmt: skip
