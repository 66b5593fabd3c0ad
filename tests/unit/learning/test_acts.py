"""What either side does with its words."""

import tomllib
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.learning.corrections.acts import acts, moves


@pytest.mark.parametrize(
    ("said", "act"),
    [
        ("Soll ich das gleich eintragen?", "asks"),
        ("Wenn du willst, merge ich den Branch.", "offers"),
        ("Se quiser, eu corrijo isso agora.", "offers"),
        ("原因已找到并修复。", "done"),
        ("ボタンを追加しました。", "done"),
        ("Сейчас создам директории.", "will"),
        ("Update(src/app.py) Added 3 lines", "shows"),
        ("Renamed it as you asked.", "obeys"),
        ("ご依頼のとおり変更しました。", "obeys"),
        ("Als JSON oder als CSV? Beides geht.", "asked"),
        ("The score is 55.", "states"),
        ("", "silent"),
    ],
)
def test_how_the_assistant_hands_over_is_told(said, act):
    assert act in acts(said)


@pytest.mark.parametrize(
    ("message", "move"),
    [
        ("No me ha inicializado el usuario", "fails"),
        ("it doesnt work on my machine", "fails"),
        ("まだ表示されないです", "fails"),
        ("sorry, drop that, it was a mistake", "owns"),
        ("Isn't that a bad practice?", "rhetoric"),
        ("разве это не лучше в отдельном файле", "rhetoric"),
        ("сам все сделай", "yourself"),
        ("die readme brauchen wir nicht", "only"),
        ("as I said, three columns", "again"),
        ("c'est trop compliqué", "judges"),
        ("以后提交前先跑测试", "forgood"),
        ("did you deploy it", "asks"),
        ("forget what I said about the colour", "changes"),
        ("hab es mir anders überlegt", "changes"),
        ("我改主意了，还是用列表", "changes"),
        ("rien à redire, on garde", "marvels"),
        ("文句なしです", "marvels"),
        ("просто любопытно, почему так", "wonders"),
        ("por curiosidade, por que esse formato", "wonders"),
        ("before we start: tests live in spec/", "briefs"),
        ("참고로 이 프로젝트는 3.8 고정", "briefs"),
        ("waar dan ook, eerst vragen", "anywhere"),
        ("write the team a mail: never push on fridays", "drafts"),
        ("帮我写一段入职须知，大意是不要把密钥写进代码", "drafts"),
        ("übersetz mir den Satz fürs Schild", "drafts"),
        ("i fixed it yesterday, redis and not memory", "didit"),
        ("自分でもう直しました", "didit"),
        ("my coworker keeps saying to rebase", "others"),
        ("kolega mówi że to zły wzorzec", "others"),
    ],
)
def test_what_the_user_does_is_told_in_every_language(message, move):
    assert move in moves(message)


def test_a_part_of_a_word_is_no_phrase():
    assert "wishes" not in moves("the address")
    assert "forgood" not in moves("nevertheless")


def test_what_is_not_to_be_touched_is_no_praise():
    assert "marvels" not in moves("не трогай файлы в vendor")
    assert "marvels" not in moves("don't touch it")


def test_only_the_last_words_of_the_assistant_count():
    assert acts("Shall I go on? " + "The list has four rows. " * 20) == {"states"}


@pytest.mark.parametrize("table", ["acts", "moves"])
def test_every_table_has_phrases_of_many_languages(table):
    folder = files("perpetualcc.learning.corrections")
    text = (folder / f"{table}.toml").read_text(encoding="utf-8")

    assert {name: len(lines.splitlines()) for name, lines in tomllib.loads(text).items()
            if len(lines.splitlines()) < 14} == {}  # fmt: skip


@given(st.text())
def test_any_text_is_read(text):
    assert acts(text)
    assert moves(text) is not None
