"""One short rule out of the user's own words, and what it is about."""

import re

from perpetualcc.domain.secrets import redact
from perpetualcc.learning.corrections import families
from perpetualcc.learning.corrections.features import Sentence
from perpetualcc.learning.corrections.judgement import Category
from perpetualcc.learning.corrections.lexicon import Lexicon

MAX_CHARACTERS = 160

_FILLER = re.compile(r"^[\s,.;:!?…–—\-，。、！？]+|[\s,;:…–—\-，、]+$")
_CUES: tuple[tuple[Category, str], ...] = (
    (Category.SECURITY, r"secret|passw|token|credential|api.?key|\.env|密码|密钥|пароль|секрет|パスワード|clave|senha|mot de passe"),
    (Category.TESTING, r"\btest|\bspec\b|mock|coverage|fixture|测试|測試|テスト|тест|테스트|prueba|\btestes\b|परीक्ष|اختبار|kiểm thử|проверк"),
    (Category.NAMING, r"snake|camel|pascal|kebab|\bnam(e|ing)|\bnom(br|m)|命名|名前|назва|именова|benenn|이름|변수명|naam|nazw|isimlen|_case"),
    (Category.DOCUMENTATION, r"readme|docstring|changelog|comment|komment|注释|註解|コメント|коммент|주석|documenta|dokument|文档|टिप्पण|تعليق|yorum|comentari|commento|komentarz|\bdocs?\b"),
    (Category.WORKFLOW, r"commit|branch|\bpr\b|pull request|push|merge|rebase|deploy|release|\bci\b|提交|分支|推送|コミット|ブランチ|プッシュ|коммит|ветк|커밋|브랜치|ask (me )?(first|before)|squash|रिलीज"),
    (Category.COMMUNICATION, r"answer|repl(y|ies)|respon|explain|explan|verbose|concise|brief|emoji|apolog|language|english|antwort|erklär|réponse|répond|respuesta|explica|resposta|ответ|объясн|回答|回复|回覆|解释|解釋|中文|英文|啰嗦|日本語|返答|説明|답변|설명|한국어|risposta|rispond|odpowi|yanıt|cevap|जवाब|الرد|اشرح|trả lời|antwoord|відповід|deutsch|auf englisch|русск"),
    (Category.STYLE, r"indent|\btabs?\b|spaces|semicolon|quote|format|style|lint|line length|one.?liner|缩进|縮排|分号|引号|格式|风格|インデント|セミコロン|отступ|кавыч|стил|einrück|anführ|indenta|comillas|aspas|guillemet|들여쓰기|따옴표|girinti|inspring"),
    (Category.ARCHITECTURE, r"layer|service|module|architect|pattern|component|class(es)?\b|interface|database|migration|schema|架构|架構|模块|模組|组件|数据库|アーキテクチャ|クラス|データベース|архитект|модул|компонент|схем|schicht|klasse|arquitect|arquitet|clase|classe|모듈|클래스|base de d"),
)  # fmt: skip


def state(best: Sentence, sentences: tuple[Sentence, ...], lexicon: Lexicon) -> str:
    """
    The rule as one line in the user's language, without greetings and "no,".

    A remark ("wrong again.") is followed by the sentence that says what to do, when there is one.
    """
    telling = _most_telling(best, sentences)
    text = _trim(telling.text, lexicon)
    text = redact(" ".join(text.split()))
    if len(text) > MAX_CHARACTERS:
        text = text[: MAX_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"
    return text[:1].upper() + text[1:]


def _most_telling(best: Sentence, sentences: tuple[Sentence, ...]) -> Sentence:
    tells = {"direct", "prohibit", "contrast", "norm", "always"}
    if best.features & tells and len(best.text) > 6:
        return best
    after = sentences[sentences.index(best) + 1 :] if best in sentences else ()
    candidates = [one for one in (*after, *sentences) if one.features & tells]
    return candidates[0] if candidates else best


def _trim(text: str, lexicon: Lexicon) -> str:
    for _ in range(4):
        shorter = _without_opening(_FILLER.sub("", text), lexicon)
        if shorter == text:
            break
        text = shorter
    return text.rstrip(".。!！ ")


def _without_opening(text: str, lexicon: Lexicon) -> str:
    folded = lexicon.fold(text)
    if len(folded) != len(text):
        return text
    for category in ("please", "reject"):
        match = lexicon.search(category, folded)
        if match is None or match.start() > 0 or match.end() >= len(text) - 3:
            continue
        if category == "reject" and not re.match(r"\s*[,.!，。！、:;–—-]", text[match.end() :]):
            continue
        return text[match.end() :]
    return text


def category(preference: str, message: str) -> Category:
    """What the rule is about: by the things it names, most specific first."""
    for text in (preference.lower(), message):
        named = families.category_of(text)
        if named:
            return Category(named)
        for found, cues in _CUES:
            if re.search(cues, text):
                return found
    return Category.OTHER
