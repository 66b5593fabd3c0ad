"""Leave to go on, and to do what anybody would, in several languages."""

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements import parse_statements

BRAIN = RuleBasedBrain(parse_statements)
YARD = """\
# Project: Boat yard

## Tasks
- [ ] Berth list with search
- [ ] Delivery worker with exponential backoff
- [ ] Usage metering per account

## Preferences
- Tests: pytest
- Linter: ruff

## Constraints
- Do not use GORM
- Deliveries are retried at most 8 times
"""


def ask(text: str, requirements: str = YARD, labels: tuple[str, str] = ("Yes", "No")) -> str:
    question = Question(text=text, options=tuple(Option(label=label) for label in labels))
    name = "r.yaml" if requirements.startswith("project:") else "r.md"
    context = QuestionContext(project="", requirements_text=requirements, requirements_path=name)
    answer = BRAIN.answer(question, context)
    return answer.selected[0] if answer.selected and answer.confidence >= 0.7 else ""


@pytest.mark.parametrize(
    "text",
    [
        "Should I run the pytest suite before I go on to the grouping?",
        "The parser is done. Should I run ruff before I start the next task?",
        "Should I run the linter once?",
        "May I run the type checker first?",
        "Should I run mypy before we continue?",
        "Should I build once before I go on?",
        "Soll ich die Tests ausführen, bevor ich weitermache?",
        "Soll ich zuerst den Linter laufen lassen?",
        "Dois-je lancer les tests avant de continuer ?",
        "¿Debo ejecutar el linter antes de continuar?",
        "Devo eseguire i test prima di continuare?",
        "Devo rodar os testes antes de continuar?",
        "Moet ik de tests draaien voordat ik verderga?",
        "是否先运行一下测试？",
        "先にテストを実行しますか？",
        "먼저 테스트를 실행할까요?",
    ],
)
def test_a_local_check_is_run(text: str) -> None:
    assert ask(text) == "Yes"


@pytest.mark.parametrize(
    "text",
    [
        "Should I run the pytest suite against the staging database?",
        "Should I run the load tests against the live server?",
        "Should I run the pytest suite and then push the branch?",
        "Should I run ruff and upgrade the dependencies?",
        "Should I run the linter or the formatter?",
        "Should I skip the tests before I go on?",
        "Should I run the tests in the customer's account?",
        "Should I run the migration before I go on?",
        "Soll ich die Tests überspringen, bevor ich weitermache?",
        "Soll ich die Tests auf dem Server ausführen und dann veröffentlichen?",
        "Dois-je lancer la migration avant de continuer ?",
        "¿Debo ejecutar los tests contra la base de datos de producción?",
        "是否跳过测试？",
    ],
)
def test_what_is_more_than_a_local_check_is_a_persons(text: str) -> None:
    assert ask(text) == ""


GERMAN = """\
# Project: Vereinskasse

## Tasks
- [x] Mitgliederliste mit Suche
- [ ] Beitragsläufe mit SEPA-Datei
- [ ] Rollen und Rechte
- [ ] Serienbriefe

## Constraints
- Mitglieder werden nie gelöscht
"""
CHINESE = """\
project: 评论管道
tasks:
  - id: collect
    description: 编写评论采集模块
  - id: clean
    description: 编写清洗和去重模块
    depends_on: [collect]
  - id: export
    description: 导出每周报表
    depends_on: [clean]
constraints:
  - 不得保存用户的手机号
  - 测试不使用 MongoDB
"""
JAPANESE = """\
# プロジェクト: 家計簿

## タスク
- [x] 支出の入力画面
- [ ] レシートの撮影と文字認識
- [ ] 月別の集計グラフ
- [ ] CSV エクスポート

## 制約
- Firebase は使わない
- 外部のサーバーにデータを送信しない
"""
KOREAN = """\
project: 설비 탐지
tasks:
  - id: collect
    description: 센서 데이터 수집
  - id: features
    description: 1분 단위 특징 계산
    depends_on: [collect]
  - id: api
    description: 예측 결과를 제공하는 API
    depends_on: [features]
constraints:
  - TensorFlow는 사용하지 않는다
  - 테스트 데이터는 삭제하지 않는다
"""
SPOKEN = {
    "de": (GERMAN, ("Ja", "Nein")),
    "zh": (CHINESE, ("是", "否")),
    "ja": (JAPANESE, ("はい", "いいえ")),
    "ko": (KOREAN, ("예", "아니요")),
}


@pytest.mark.parametrize(
    ("spoken", "text"),
    [
        (
            "de",
            (
                "Die SEPA-Datei wird erzeugt und die Tests laufen durch. "
                "Soll ich mit der nächsten Aufgabe (Rollen und Rechte) fortfahren?"
            ),
        ),
        ("de", "Die Beitragsläufe sind fertig. Soll ich mit den Serienbriefen weitermachen?"),
        ("de", "Soll ich mit der Aufgabe „Rollen und Rechte“ fortfahren?"),
        ("de", "Alle Tests bestehen. Darf ich mit dem nächsten Schritt fortfahren?"),
        ("zh", "采集模块已完成，测试全部通过。是否继续编写清洗和去重模块？"),
        ("zh", "评论采集模块写好了。是否继续清洗和去重的任务？"),
        ("zh", "清洗和去重模块已完成。现在继续导出每周报表吗？"),
        ("ja", "文字認識のテストがすべて通りました。次の集計グラフのタスクに進んでもよいですか?"),
        ("ja", "集計グラフが完了しました。CSV エクスポートに進みますか？"),
        ("ja", "文字認識が完了しました。月別の集計グラフの実装を続けますか？"),
        ("ko", "데이터 수집 모듈과 테스트를 완료했습니다. 특징 계산 작업을 계속 진행할까요?"),
        ("ko", "센서 데이터 수집을 완료했습니다. 다음 작업인 특징 계산을 진행할까요?"),
        ("ko", "센서 데이터 수집이 끝났습니다. 특징 계산을 계속 진행해도 될까요?"),
    ],
)
def test_the_next_task_is_gone_on_with_in_any_language(spoken: str, text: str) -> None:
    requirements, labels = SPOKEN[spoken]

    assert ask(text, requirements, labels) == labels[0]


@pytest.mark.parametrize(
    ("spoken", "text"),
    [
        ("de", "Ein Test schlägt fehl. Soll ich mit der Aufgabe (Rollen und Rechte) fortfahren?"),
        ("de", "Soll ich mit der nächsten Aufgabe (Rollen, ohne Rechte) fortfahren?"),
        ("de", "Soll ich mit der nächsten Aufgabe (Hallenbelegung) fortfahren?"),
        ("de", "Soll ich mit Rollen und Rechten oder Serienbriefen fortfahren?"),
        ("zh", "采集模块已完成，但有两个测试失败。是否继续编写清洗和去重模块？"),
        ("zh", "采集模块基本完成。是否继续编写清洗和去重模块？"),
        ("zh", "是否继续编写清洗和去重模块？"),
        ("zh", "采集模块已完成。是否继续编写清洗和去重模块并改用 MongoDB？"),
        ("zh", "采集模块已完成。是否继续编写情感分析模块和新的网页界面功能以及移动端应用程序？"),
        ("zh", "采集模块已完成。是否继续导出每周报表？"),
        (
            "ja",
            "文字認識のテストが一部失敗しました。次の集計グラフのタスクに進んでもよいですか?",
        ),
        ("ja", "文字認識が完了しました。集計グラフに進むか、それとも CSV を先にしますか?"),
        ("ja", "文字認識が完了しました。集計グラフとサーバー送信機能に進んでもよいですか?"),
        ("ko", "데이터 수집 모듈을 완료했지만 테스트가 실패합니다. 특징 계산을 계속 진행할까요?"),
        ("ko", "특징 계산 작업을 계속 진행할까요?"),
        ("ko", "데이터 수집을 완료했습니다. 예측 결과를 제공하는 API 작업을 계속 진행할까요?"),
    ],
)
def test_a_task_in_doubt_or_not_yet_due_is_a_persons_in_any_language(
    spoken: str, text: str
) -> None:
    requirements, labels = SPOKEN[spoken]

    assert ask(text, requirements, labels) == ""
