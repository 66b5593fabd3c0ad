"""What a rule asks for: two of them agree, are contrary, or stand apart."""

import pytest

from perpetualcc.learning.claim_reader import read_claim
from perpetualcc.learning.claims import Relation, relation

SAME, CONTRARY, APART = Relation.SAME, Relation.CONTRARY, Relation.APART


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # Polarity.
        ("Never commit to main", "Always commit to main", CONTRARY),
        ("Don't use npm", "Use npm here, always", CONTRARY),
        ("Never push to main", "From now on always push to main", CONTRARY),
        ("Do not use Docker", "Always use Docker from now on", CONTRARY),
        ("Never use semicolons", "Always use semicolons", CONTRARY),
        ("Never use tabs", "Always use tabs in this project", CONTRARY),
        ("NEVER USE NPM", "use npm", CONTRARY),
        ("Always add docstrings", "Don't add docstrings", CONTRARY),
        ("No emojis in commit messages", "Use emojis in commit messages", CONTRARY),
        ("Avoid npm", "Don't use npm", SAME),
        ("npm must not be used", "Never use npm", SAME),
        ("Don't forget to run pytest", "Always run pytest", SAME),
        # Two sides of one rule.
        ("Use pnpm, not npm", "use pnpm not npm please", SAME),
        ("Use pnpm, not npm", "Use npm, not pnpm", CONTRARY),
        ("Use pnpm instead of npm", "Use npm", CONTRARY),
        ("Don't use npm use pnpm", "use pnpm", SAME),
        ("Use pnpm", "Don't use npm", APART),
        ("Use spaces", "Always use tabs", CONTRARY),
        ("Answer in German", "Answer in English", CONTRARY),
        # Numbers.
        ("Use 2 spaces", "Use 4 spaces", CONTRARY),
        ("Use two spaces", "Use 4 spaces", CONTRARY),
        ("Use two spaces", "Indent with 2 spaces", SAME),
        ("Keep lines under 100 characters", "Keep lines under 80 characters", CONTRARY),
        ("Keep lines under 100 characters", "Use 4 spaces", APART),
        # Where.
        ("Don't use npm", "Use npm for scripts in tools/", APART),
        ("Use tabs in Go", "Use spaces in Python", APART),
        ("Use tabs in Go", "Use spaces in Go", CONTRARY),
        ("Use tabs for indentation", "Use spaces", CONTRARY),
        ("Never mock the database", "Mock the database in unit tests", APART),
        # What goes with what.
        (
            "Use tabs for Go and spaces for Python",
            "Use spaces for Go and tabs for Python",
            CONTRARY,
        ),
        ("Use spaces for Python and tabs for Go", "Use tabs for Go and spaces for Python", SAME),
        ("Use npm in app/ and pnpm in api/", "Use pnpm in app/ and npm in api/", CONTRARY),
        ("Tabs für Go, Leerzeichen für Rust", "Leerzeichen für Go, Tabs für Rust", CONTRARY),
        ("Go用制表符，Python用空格", "Go用空格，Python用制表符", CONTRARY),
        (
            "Commits in English and comments in German",
            "Commits auf Deutsch und Kommentare auf Englisch",
            CONTRARY,
        ),
        (
            "Commits in English and comments in German",
            "Kommentare auf Deutsch und Commits auf Englisch",
            SAME,
        ),
        # A command is not the tool that it begins with.
        ("Never use `npm install -g`", "Use npm", APART),
        ("Always run `npm run lint` before committing", "Use pnpm, not npm", APART),
        ("Never use `git add .`", "Always use `git add .`", CONTRARY),
        # What is excepted, and how often.
        ("Use const", "Use const except in tests", CONTRARY),
        ("Use const except in tests", "use const, except in tests", SAME),
        ("Sometimes use npm", "Never use npm", CONTRARY),
        ("Sometimes use npm", "Always use npm", CONTRARY),
        # Other matters.
        ("Never commit to main", "Always push to main", APART),
        ("Name the default branch main", "Never push to main", APART),
        ("Never mock the database", "Write short commit messages", APART),
        # Another language.
        ("Never commit to main", "Commite nie nach main", SAME),
        ("Never commit to main", "mainに直接コミットしないで", SAME),
        ("Always commit to main", "不要提交到main", CONTRARY),
        # In one thing they agree, in another they do not.
        ("Stop apologizing and just fix it", "Don't apologize so much, just fix it", APART),
        ("Add comments, never docstrings", "Add comments and docstrings", APART),
        # As people say it.
        ("Don't use default exports", "Use default exports only in Next pages", APART),
        ("Never use tabs", "Tabs!", CONTRARY),
        ("No semicolons", "Semicolons always", CONTRARY),
        ("Always squash", "Never squash", CONTRARY),
        ("Use uv", "uv, never pip", SAME),
        ("Use uv", "Use pip", CONTRARY),
        ("Use uv", "Use pip, not uv", CONTRARY),
        ("Always use Docker", "Docker is forbidden", CONTRARY),
        ("Never push without asking", "Always push without asking", CONTRARY),
        ("Never push without asking", "Push without asking", CONTRARY),
        ("Write tests for every change", "Don't write tests", CONTRARY),
        ("Run make check before each commit", "Don't run make check before each commit", CONTRARY),
        ("Max line length 100", "Max line length 120", CONTRARY),
        ("Use Node 20", "Use Node 22", CONTRARY),
        ("Timeout of 30 seconds", "Timeout of 60 seconds", CONTRARY),
        ("Answer in English", "Never answer in English", CONTRARY),
        ("Antworte auf Deutsch", "Antworte auf Englisch", CONTRARY),
        ("Réponds en français", "Réponds en anglais", CONTRARY),
        ("Responde en español", "Responde en inglés", CONTRARY),
        ("用中文回答", "用英文回答", CONTRARY),
        ("日本語で答えて", "英語で答えて", CONTRARY),
        ("Use jest", "Use vitest", CONTRARY),
        ("Don't use jest, use vitest", "Don't use vitest, use jest", CONTRARY),
        ("Use vitest instead of jest", "Use jest instead of vitest", CONTRARY),
        ("Benutze jest statt vitest", "Benutze vitest statt jest", CONTRARY),
        ("jestの代わりにvitestを使って", "vitestの代わりにjestを使って", CONTRARY),
        ("Never use jest", "Nunca uses jest", SAME),
        ("Use ruff", "Do not use ruff in legacy/", APART),
        ("Never edit generated files", "Edit generated files", CONTRARY),
        ("Never edit generated files", "You may edit generated files", CONTRARY),
        ("Occasionally add comments", "Add comments", CONTRARY),
        ("Commit often", "Don't commit often", CONTRARY),
        ("Don't commit", "Don't commit to main", APART),
        ("Always use type hints", "Never use type hints", CONTRARY),
        ("Use single quotes", "Don't use single quotes", CONTRARY),
        ("Use camelCase", "Don't use camelCase", CONTRARY),
        ("Antworte auf Deutsch", "Answer in German", SAME),
        ("用中文回答", "中文で答えて", SAME),
        ("Отвечай по-русски", "Отвечай по-английски", CONTRARY),
        ("Rispondi in italiano", "Answer in English", CONTRARY),
        ("한국어로 답해", "영어로 답해", CONTRARY),
        ("Write comments in English", "Write comments in German", CONTRARY),
        ("Write comments in English", "Answer in German", APART),
        ("Write commit messages in English", "Answer in German", APART),
        ("在这个项目统一用 pnpm", "我们用 pnpm，不用 npm", SAME),
        ("Non fare mai commit senza chiedermi", "Smettila di fare commit senza chiedermi", SAME),
        ("I hate semicolons", "Always use semicolons", CONTRARY),
        ("Use TypeScript", "Never use TypeScript", CONTRARY),
        ("Write it in TypeScript", "Write it in JavaScript", CONTRARY),
        ("Always ask before pushing", "Never ask before pushing", CONTRARY),
        ("Ask before pushing", "Don't push without asking", APART),
        ("Use tabs", "Use tabs, 4 wide", SAME),
        ("Use Python 3.11", "Use Python 3.12", CONTRARY),
        ("Use port 3000", "Use port 8080", CONTRARY),
        ("Keep commit messages short", "Keep commit messages long", APART),
        ("Prefer tabs over spaces", "Prefer spaces over tabs", CONTRARY),
        ("Use tabs not spaces", "Use spaces not tabs", CONTRARY),
        ("No comments in code", "Add comments to every function", APART),
        ("Don't mock the database in tests", "Mock the database in tests", CONTRARY),
        ("Only use npm", "Never use npm", CONTRARY),
        ("We use poetry", "We don't use poetry any more", CONTRARY),
        ("Stop using docker", "Use docker", CONTRARY),
        ("Use npm unless it is a script", "Use npm", CONTRARY),
        ("Use npm only in CI", "Never use npm", APART),
        ("You may use npm", "Don't use npm", CONTRARY),
        ("It's ok to use npm", "Don't use npm", CONTRARY),
        ("Use rebase, never merge", "Merge, don't rebase", CONTRARY),
        ("Never rebase", "Use rebase, never merge", CONTRARY),
        ("Do not write tests", "Write tests", CONTRARY),
        ("Schreib keine Kommentare", "Schreib immer Kommentare", CONTRARY),
        ("Schreib keine Kommentare", "Never write comments", SAME),
        ("N'écris pas de commentaires", "Écris toujours des commentaires", CONTRARY),
        ("No escribas comentarios", "Escribe siempre comentarios", CONTRARY),
        ("Não escreva comentários", "Sempre escreva comentários", CONTRARY),
        ("Не пиши комментарии", "Всегда пиши комментарии", CONTRARY),
        ("不要写注释", "总是写注释", CONTRARY),
        ("コメントを書かないで", "必ずコメントを書いて", CONTRARY),
        ("주석 달지 마", "항상 주석 달아", CONTRARY),
        ("Yorum ekleme", "Her zaman yorum ekle", CONTRARY),
        ("Non scrivere commenti", "Scrivi sempre commenti", CONTRARY),
        ("Schrijf geen commentaar", "Schrijf altijd commentaar", CONTRARY),
        ("Nie pisz komentarzy", "Zawsze pisz komentarze", CONTRARY),
        ("Manchmal npm benutzen", "Nie npm benutzen", CONTRARY),
        ("Immer npm, außer in Tests", "Immer npm", CONTRARY),
        ("Toujours npm, sauf dans les tests", "Toujours npm", CONTRARY),
        ("在测试中使用 npm", "不要用 npm", APART),
        ("テストではnpmを使って", "npmは使わないで", APART),
        ("In Tests npm benutzen", "Nie npm benutzen", APART),
        ("Utilise npm dans tools/", "N'utilise pas npm", APART),
        ("2 Leerzeichen zum Einrücken", "4 Leerzeichen", CONTRARY),
        ("缩进用两个空格", "缩进用4个空格", CONTRARY),
        ("Use npm", "Use NPM", SAME),
        ("Use camelCase", "Use snake_case", CONTRARY),
        ("Use camelCase for functions", "Use PascalCase for components", APART),
        ("Don't use default exports", "Use default exports", CONTRARY),
        ("Use named exports", "Don't use default exports", APART),
        ("Don't run the tests after every change", "Run the tests after every change", CONTRARY),
        ("Never use any", "Use any", CONTRARY),
        ("Never commit to main", "Never commit to master", APART),
        ("Never commit to main or master", "Always commit to main", CONTRARY),
        ("Don't use console.log", "Use console.log", CONTRARY),
        ("Use logger, not print", "Use print", CONTRARY),
        ("Always run pytest with -q", "Always run pytest", SAME),
        ("Don't forget the changelog", "Update the changelog", APART),
        ("Use const except in tests", "Use const, even in tests", APART),
    ],
)
def test_two_rules_agree_exclude_each_other_or_stand_apart(one, other, expected):
    assert relation(read_claim(one), read_claim(other)) is expected
    assert relation(read_claim(other), read_claim(one)) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Nothing but pnpm", "Anything but pnpm", CONTRARY),
        ("Only pnpm", "Anything but pnpm", CONTRARY),
        ("With semicolons please", "Without semicolons please", CONTRARY),
        ("Leave out semicolons", "Put semicolons", CONTRARY),
        ("Remove comments", "Keep comments", CONTRARY),
        ("Remove trailing commas", "Add trailing commas", CONTRARY),
        ("Skip tests", "Run tests", CONTRARY),
        ("Disable telemetry", "Enable telemetry", CONTRARY),
        ("Turn off strict mode", "Turn on strict mode", CONTRARY),
        ("Allow any", "Forbid any", CONTRARY),
        ("Hide warnings", "Show warnings", CONTRARY),
        ("Omit types", "Include types", CONTRARY),
        ("Fewer comments", "More comments", CONTRARY),
        ("Don't ever use var", "Use var", CONTRARY),
        ("Refrain from adding emojis", "Add emojis", CONTRARY),
        ("It's forbidden to push to main", "It's allowed to push to main", CONTRARY),
        ("Don't avoid recursion", "Avoid recursion", CONTRARY),
        ("Never stop running tests", "Stop running tests", CONTRARY),
        ("Mit Semikolons", "Ohne Semikolons", CONTRARY),
        ("Lass die Kommentare drin", "Lass die Kommentare weg", CONTRARY),
        ("Auf keinen Fall committen", "Auf jeden Fall committen", CONTRARY),
        ("Verzichte auf Docstrings", "Schreib Docstrings", CONTRARY),
        ("Vermeide any", "Verwende any", CONTRARY),
        ("Sans point-virgule", "Avec point-virgule", CONTRARY),
        ("Évite les classes", "Utilise les classes", CONTRARY),
        ("Arrête d'ajouter des commentaires", "Ajoute des commentaires", CONTRARY),
        ("Evita las clases", "Usa clases", CONTRARY),
        ("Sem ponto e vírgula", "Com ponto e vírgula", CONTRARY),
        ("Evite classes", "Use classes", CONTRARY),
        ("Pare de adicionar comentários", "Adicione comentários", CONTRARY),
        ("Smetti di aggiungere commenti", "Aggiungi commenti", CONTRARY),
        ("Избегай классов", "Используй классы", CONTRARY),
        ("Уникай класів", "Використовуй класи", CONTRARY),
        ("Ніяких емодзі", "Використовуй емодзі", CONTRARY),
        ("Unikaj klas", "Używaj klas", CONTRARY),
        ("Zonder puntkomma's", "Met puntkomma's", CONTRARY),
        ("Vermijd klassen", "Gebruik klassen", CONTRARY),
        ("Stop met commentaar toevoegen", "Voeg commentaar toe", CONTRARY),
        ("Noktalı virgül olmadan", "Noktalı virgülle", CONTRARY),
        ("Emoji kullanma", "Emoji kullan", CONTRARY),
        ("少写注释", "多写注释", CONTRARY),
        ("セミコロンなしで", "セミコロンありで", CONTRARY),
        ("勝手にコミットしないで", "勝手にコミットして", CONTRARY),
        ("클래스 사용하지 마세요", "클래스 사용하세요", CONTRARY),
        ("बिना सेमीकोलन", "सेमीकोलन के साथ", CONTRARY),
        ("توقف عن إضافة التعليقات", "أضف التعليقات", CONTRARY),
        ("ممنوع استخدام any", "استخدم any", CONTRARY),
        ("Never use npm", "npm is not allowed", SAME),
        ("Don't add comments", "Stop adding comments", SAME),
        ("Never commit without running tests", "Always run tests before committing", APART),
        ("Keep functions under 30 lines", "Functions must not be longer than 30 lines", SAME),
        ("Max 80 characters", "Not more than 80 characters", APART),
        ("No lines over 100 characters", "Lines of at most 100 characters", APART),
        ("Nicht committen ohne zu fragen", "Vor dem Commit immer fragen", APART),
        ("N'oublie pas d'écrire des tests", "Écris des tests", SAME),
        ("不要超过80个字符", "最多80个字符", APART),
        ("Test yazmayı unutma", "Test yaz", SAME),
        ("Ask before deleting files", "Don't ask before reading files", APART),
        ("Never edit package-lock.json", "Edit package.json by hand", APART),
        ("Never rename tests", "Write tests", APART),
        ("Never delete tests", "Write tests", APART),
        ("Never run tests", "Write tests", APART),
        ("Don't edit tests", "Run tests", APART),
        ("Don't run the server", "Build the server", APART),
        ("Never start docker", "Use docker", APART),
        ("Never delete branches", "Create branches", APART),
        ("Don't update dependencies", "Add dependencies when needed", APART),
        ("Never rewrite history", "Keep history", APART),
        ("Don't write comments", "Remove comments", APART),
        ("Lösch nie Tests", "Schreib Tests", APART),
        ("不要运行测试", "写测试", APART),
        ("テストを消さないで", "テストを書いて", APART),
        ("テストを実行しないで", "テストを書いて", APART),
        ("테스트 지우지 마", "테스트 써", APART),
        ("Don't write long functions", "Write functions", APART),
        ("Don't write long comments", "Write comments", APART),
        ("No long commit messages", "Write commit messages", APART),
        ("Never use global variables", "Use variables", APART),
        ("Use React", "Don't use React Native", APART),
        ("Use TypeScript", "Don't use TypeScript enums", APART),
        ("Don't use Python 2", "Use Python 3", APART),
        ("Don't use Node 18", "Use Node 20", APART),
        ("Never use port 3000", "Use port 8080", APART),
        ("Not 4 spaces", "2 spaces", APART),
        ("Use pytest", "Don't use pytest fixtures", APART),
        ("Use jest", "Don't use jest mocks", APART),
        ("Don't stop asking before commits", "Stop asking before commits", CONTRARY),
        ("Remove dead code", "Never leave dead code", APART),
        ("Skip the intro", "No intro", SAME),
        ("Use spaces without tabs", "Use tabs without spaces", CONTRARY),
        ("With tests", "Without tests", CONTRARY),
        ("Docstrings are required", "Docstrings are not required", CONTRARY),
        ("More tests please", "Fewer tests please", CONTRARY),
        ("Write more tests", "Write fewer tests", CONTRARY),
        ("Everything except Docker", "Use Docker", CONTRARY),
        ("Aktiviere Telemetrie", "Deaktiviere Telemetrie", CONTRARY),
        ("Entferne Kommentare", "Behalte Kommentare", CONTRARY),
        ("Desactiva la telemetría", "Activa la telemetría", CONTRARY),
        ("No evites las clases", "Evita las clases", CONTRARY),
        ("Désactive la télémétrie", "Active la télémétrie", CONTRARY),
        ("Supprime les commentaires", "Garde les commentaires", CONTRARY),
        ("Disattiva la telemetria", "Attiva la telemetria", CONTRARY),
        ("Schakel telemetrie uit", "Schakel telemetrie in", CONTRARY),
        ("Wyłącz telemetrię", "Włącz telemetrię", CONTRARY),
        ("Выключи телеметрию", "Включи телеметрию", CONTRARY),
        ("Не избегай классов", "Избегай классов", CONTRARY),
        ("Вимкни телеметрію", "Увімкни телеметрію", CONTRARY),
        ("Убери комментарии", "Оставь комментарии", CONTRARY),
        ("Tắt telemetry", "Bật telemetry", CONTRARY),
        ("不要避免使用 class", "避免使用 class", CONTRARY),
        ("关闭遥测", "开启遥测", CONTRARY),
        ("删除注释", "保留注释", CONTRARY),
        ("テレメトリを無効にして", "テレメトリを有効にして", CONTRARY),
        ("コメントを削除して", "コメントを残して", CONTRARY),
        ("주석 제거해", "주석 유지해", CONTRARY),
        ("텔레메트리 비활성화해", "텔레메트리 활성화해", CONTRARY),
        ("Without comments", "No comments", SAME),
        ("Sans commentaires", "Pas de commentaires", SAME),
        ("コメントなしで", "コメントを書かないで", SAME),
        ("Use React with TypeScript", "Use React without TypeScript", CONTRARY),
        ("Run the tests", "Write tests", APART),
        ("Don't run the tests", "Write tests", APART),
        ("Deploy with Docker", "Deploy without Docker", CONTRARY),
        ("Allow unused variables", "Disallow unused variables", CONTRARY),
        ("Don't drop the database", "Use a database", APART),
        ("Remove console.log", "Use console.log", CONTRARY),
        ("Don't remove comments", "Write comments", APART),
        ("Leave comments out", "Leave comments in", CONTRARY),
        ("Answer without preamble", "Answer with a preamble", APART),
        ("Start with tests", "Start without tests", APART),
        ("先问我再提交", "不用问我直接提交", APART),
    ],
)
def test_what_withholds_gives_takes_away_or_narrows_is_read_in_every_language(one, other, expected):
    assert relation(read_claim(one), read_claim(other)) is expected
    assert relation(read_claim(other), read_claim(one)) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Use 2 spaces, not 4", "Use 4 spaces, not 2", CONTRARY),
        ("Use 2 spaces, not 4", "Use 2 spaces", SAME),
        ("2 Leerzeichen statt 4", "4 Leerzeichen statt 2", CONTRARY),
        ("2 espaces, pas 4", "4 espaces, pas 2", CONTRARY),
        ("2 espacios, no 4", "4 espacios, no 2", CONTRARY),
        ("2 пробела, не 4", "4 пробела, не 2", CONTRARY),
        ("用2个空格，不要用4个", "用4个空格，不要用2个", CONTRARY),
        ("スペースは4つじゃなくて2つ", "スペースは2つじゃなくて4つ", CONTRARY),
        ("스페이스 4칸 말고 2칸", "스페이스 2칸 말고 4칸", CONTRARY),
        ("Use Python 3.12 instead of 3.11", "Use Python 3.11 instead of 3.12", CONTRARY),
        ("Use Python 3.12 instead of 3.11", "Use Python 3.12", SAME),
        ("Use Node 22, never 18", "Use Node 18, never 22", CONTRARY),
        ("Port 8080 rather than 3000", "Port 3000 rather than 8080", CONTRARY),
        ("Never use port 8080", "Never use port 3000", APART),
        ("Don't use Node 18", "Don't use Node 16", APART),
        ("Tests before code", "Code before tests", APART),
        ("Ask first, then act", "Act first, then ask", APART),
    ],
)
def test_numbers_places_and_an_order_are_wanted_or_refused(one, other, expected):
    assert relation(read_claim(one), read_claim(other)) is expected
    assert relation(read_claim(other), read_claim(one)) is expected


NPM = {
    "ar": ("لا تستخدم npm أبدا", "استخدم npm دائما", "استخدم pnpm بدلا من npm"),
    "de": ("Niemals npm benutzen", "Immer npm benutzen", "Nimm pnpm statt npm"),
    "en": ("Don't use npm", "Always use npm", "Use pnpm, not npm"),
    "es": ("Nunca uses npm", "Usa siempre npm", "Usa pnpm en lugar de npm"),
    "fr": ("N'utilise jamais npm", "Utilise toujours npm", "Utilise pnpm, pas npm"),
    "hi": ("npm कभी इस्तेमाल मत करो", "हमेशा npm इस्तेमाल करो", "npm की जगह pnpm इस्तेमाल करो"),
    "it": ("Non usare mai npm", "Usa sempre npm", "Usa pnpm invece di npm"),
    "ja": ("npmは使わないで", "常にnpmを使って", "npmじゃなくてpnpmを使って"),
    "ko": ("npm은 절대 쓰지 마", "항상 npm을 써", "npm 말고 pnpm을 써"),
    "nl": ("Gebruik nooit npm", "Gebruik altijd npm", "Gebruik pnpm in plaats van npm"),
    "pl": ("Nigdy nie używaj npm", "Zawsze używaj npm", "Używaj pnpm zamiast npm"),
    "pt": ("Nunca use npm", "Use sempre npm", "Use pnpm, não npm"),
    "ru": ("Никогда не используй npm", "Всегда используй npm", "Используй pnpm, а не npm"),
    "tr": ("Asla npm kullanma", "Her zaman npm kullan", "npm yerine pnpm kullan"),
    "uk": ("Ніколи не використовуй npm", "Завжди використовуй npm", "Вживай pnpm замість npm"),
    "vi": ("Đừng bao giờ dùng npm", "Luôn luôn dùng npm", "Dùng pnpm thay vì npm"),
    "zh": ("不要用 npm", "总是用 npm", "用 pnpm，不要用 npm"),
}


@pytest.mark.parametrize("code", NPM)
def test_in_every_language_what_is_refused_is_the_contrary_of_what_is_wanted(code):
    never, always, instead = map(read_claim, NPM[code])

    assert relation(never, always) is CONTRARY
    assert relation(instead, always) is CONTRARY
    assert relation(instead, never) is APART
    assert (never.first_wanted(), always.first_wanted()) == ({}, {"node_packages": "npm"})
    assert instead.first_wanted() == {"node_packages": "pnpm"}


@pytest.mark.parametrize("code", NPM)
def test_a_rule_is_known_again_and_contradicted_in_another_language(code):
    never, always, instead = map(read_claim, NPM[code])

    assert relation(read_claim("Never use npm"), never) is SAME
    assert relation(read_claim("Always use npm"), always) is SAME
    assert relation(read_claim("Never use npm"), always) is CONTRARY
    assert relation(read_claim("Use pnpm, not npm"), instead) is SAME


COMMIT = {
    "de": ("Nie nach main committen", "Immer nach main committen"),
    "en": ("Never commit to main", "Always commit to main"),
    "es": ("Nunca hagas commit en main", "Haz siempre commit en main"),
    "fr": ("Ne commite jamais sur main", "Commite toujours sur main"),
    "it": ("Non fare mai commit su main", "Fai sempre commit su main"),
    "ja": ("mainに直接コミットしないで", "必ずmainに直接コミットして"),
    "ko": ("main에 커밋하지 마", "항상 main에 커밋해"),
    "nl": ("Commit nooit naar main", "Commit altijd naar main"),
    "pl": ("Nigdy nie commituj do main", "Zawsze commituj do main"),
    "pt": ("Nunca faça commit na main", "Sempre faça commit na main"),
    "ru": ("Никогда не коммить в main", "Всегда коммить в main"),
    "tr": ("main'e asla commit etme", "her zaman main'e commit et"),
    "zh": ("不要直接提交到 main", "总是直接提交到 main"),
}


@pytest.mark.parametrize("code", COMMIT)
def test_what_is_done_to_a_thing_is_denied_and_demanded_in_every_language(code):
    never, always = map(read_claim, COMMIT[code])

    assert relation(never, always) is CONTRARY
    assert "branches" not in never.first_wanted()
    assert relation(never, never) is SAME


@pytest.mark.parametrize("rule", ["Remember this", "In this project, tests in spec/"])
def test_a_rule_of_few_words_is_its_own_repetition(rule):
    assert relation(read_claim(rule), read_claim(rule)) is SAME


@pytest.mark.parametrize("rule", ["", "…", "。", "no", "不", "'", "a" * 5000, "not " * 400])
def test_any_text_is_a_claim(rule):
    assert relation(read_claim(rule), read_claim("Use npm")) is APART
