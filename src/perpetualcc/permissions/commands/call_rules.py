"""
What one call of a known program does: its options, its operands, and what its table says.

Each rule adds findings; none takes any away.
"""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.blocked import SHELLS, is_shell, names_shell
from perpetualcc.permissions.commands.arguments import Arguments, Given
from perpetualcc.permissions.commands.asking import (
    asks_for_help,
    asks_in_words,
    is_subcommand,
    looks_at_once,
    only_looks,
)
from perpetualcc.permissions.commands.call import HANDLERS, Call, Findings, Judge
from perpetualcc.permissions.commands.emptying import emptied
from perpetualcc.permissions.commands.foreign_code import (
    OUTPUT_OPTION,
    code_path,
    judge_settings,
)
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.commands.option_words import judge_option_words
from perpetualcc.permissions.commands.passed_on import judge_passed_on
from perpetualcc.permissions.commands.piped_names import (
    names_left_out,
    searched_words,
    substituted_words,
)
from perpetualcc.permissions.commands.programs.builders import written_tasks
from perpetualcc.permissions.commands.programs.interpreters import inline_code
from perpetualcc.permissions.commands.repositories import in_bare_repository
from perpetualcc.permissions.commands.stays import STAYS_HERE, stays_here
from perpetualcc.permissions.commands.subscripts import judge_subscripts
from perpetualcc.permissions.commands.tasks import (
    harmful_verb,
    judge_task,
    sending_tasks,
    takes_many_tasks,
)
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.paths import MAY_LEAVE, Location, Zone
from perpetualcc.permissions.protected import RAW_DEVICES
from perpetualcc.permissions.shell.directories import Directories, join
from perpetualcc.permissions.shell.script import UNKNOWN, Word
from perpetualcc.permissions.shell.variables import SECRET_VARIABLE
from perpetualcc.permissions.shell.words import alternatives
from perpetualcc.permissions.urls import judge_url

_ASKS_SETTINGS = re.compile(r"\b(?:config|configure|get|settings?|output)\b")
_ADDRESS = re.compile(r"(?P<scheme>(?:https?|ftp)://)(?:[\w-]+@)?(?P<rest>\S+)", re.IGNORECASE)
"""An address. With `user@`, and no more, some hosts of code are asked; it hides no host."""
_SECRET_SETTING = re.compile(
    r"(?:\b|_)(?:auth(?:token|ident)?|\w*token|passw(?:or)?d|secret\w*|api_?key|private_?key"
    r"|extraheader|(?:http-basic|gitlab-token|github-oauth|pypi-token)[\w.-]*)(?:=.*)?$",
    re.IGNORECASE,
)
_PATH_ROLES = frozenset({"write", "output", "copy", "delete"})
_PATH_HANDLERS = frozenset({"archive", "zip", "unzip", "copy", "move", "link", "dd", "media"})
_UNDONE_BY_A_DRY_RUN = ("Deletes", "Rewrites", "Publishes", "Overwrites", "Throws away", "Moves")
"""How the reasons of options begin that a dry run makes harmless; options that run code stay."""
_WRITES_NOTHING = "Changes no file"
"""The reason of options such as `gzip -c`, with which files are read and left alone."""
_ELSEWHERE = frozenset({"Packages come from another place", "Installs code from a repository"})
_NAMES_A_FILE = re.compile(r"-o$|--?(?:out|report|save|dest(?!roy)|export|dump|record|tee|log)")
"""Of the options that by their names write those after which the place comes; not `--write`."""
_PLAIN_HTTP = re.compile(r"http://(?!localhost\b|127\.|\[::1\])", re.IGNORECASE)
_NEXT_TASK = ":::"
_LISTS_NAMES = frozenset(
    {"git check-ignore", "git check-attr", "git ls-files", "git status", "git log", "git rm",
     "git update-index", "git ls-tree", "find", "gfind", "fd", "fdfind", "npm run", "pip install"}
)  # fmt: skip
"""Commands that show or drop the names of files, not what is in them."""
_FIND = frozenset({"find", "gfind"})
_NAMES_BRANCHES = frozenset(
    {"git branch", "git checkout", "git cherry-pick", "git fetch", "git merge", "git merge-base",
     "git pull", "git push", "git rebase", "git reset", "git restore", "git rev-parse",
     "git switch", "git tag", "git worktree add"}
)  # fmt: skip
"""Commands whose words name branches, `fix/credentials`, or files that they do not show."""
_PLAIN_SETTING = re.compile(
    r"(?:user\.(?:name|email)|(?:commit|tag)\.gpgsign|color\.[\w.]+|advice\.\w+|init\.defaultbranch"
    r"|core\.(?:quotepath|autocrlf|safecrlf|abbrev|filemode|ignorecase|longpaths|precomposeunicode)"
    r"|diff\.(?:noprefix|renames|renamelimit|algorithm|context|mnemonicprefix)|log\.\w+|status\.\w+"
    r"|merge\.(?:conflictstyle|renamelimit)|pull\.(?:rebase|ff)|push\.default|rebase\.autostash"
    r"|http\.(?:lowspeedlimit|lowspeedtime|postbuffer|version)|protocol\.version|fetch\.prune"
    r"|i18n\.\w+|column\.ui|grep\.\w+|gc\.auto)=",
    re.IGNORECASE,
)
"""Settings of git that say how it prints, counts or signs, and that never name a program."""


class CallRules:
    """The rules about one call; they ask `judge` about the commands inside it."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge

    def findings(self, call: Call) -> Findings:
        """Everything that this call does, one finding each."""
        arguments = call.arguments
        if (rule := arguments.rule) is None:
            return self._unknown_use(call)
        if asks_for_help(call, rule):
            return [call.finding(Risk.LOW, "help", "Only prints help or a version")]
        dry = _dry(call)
        options = self._options(call, is_dry=bool(dry))  # first: `-C` says where it runs
        findings = [self._base(call, rule, dry), *options, *self._secret_settings(call)]
        if (arguments.subcommand or rule.looks) and not rule.wraps:
            findings += self._unknown_subcommand(call, rule)
        if dry and rule.operands == "task":
            return findings
        findings += self._operands(call, rule)
        if rule.operands == "text":
            findings += self._printed(call)
        findings += self._unknown_words(call, rule)
        if rule.operands in {"data", "code", "task"}:
            findings = self._with_named_files(findings, call, rule)
        findings += judge_settings(call, rule) + emptied(call)
        findings += written_tasks(call) if self.judge.files else []
        findings += in_bare_repository(call, rule) + self._given_shells(call, rule)
        findings += self._given_addresses(call, rule)
        if rule.operands != "text" or " " in arguments.path:  # `echo --purge` prints it
            findings += self._named_outputs(call) + judge_option_words(call, rule)
        if rule.handler:
            findings += HANDLERS[rule.handler](call)
        findings += judge_passed_on(call, rule)
        if rule.wraps and not dry:
            findings += self._wrapped(call, rule)
        return findings

    def _unknown_use(self, call: Call) -> Findings:
        why = f"Nothing is known about this use of {call.arguments.path!r}"
        unknown = call.finding(Risk.MEDIUM, "unknown-subcommand", why, EffectKind.EXECUTE)
        if asks_in_words(call.command.words[1:]):
            return [unknown]
        if [word.text for word in call.command.words[1:]] in (["--version"], ["version"]):
            return [call.finding(Risk.LOW, "help", "Only prints its version")]
        harm = harmful_verb(call.arguments.operands, call)
        return [unknown, *harm, *judge_option_words(call, None)]

    def _unknown_subcommand(self, call: Call, rule: CommandRule) -> Findings:
        """`hostnamectl set-hostname x`: the table has `hostnamectl status`, and not this."""
        if rule.risk is Risk.MEDIUM:
            words = call.arguments.operands
            return harmful_verb(words[:1] if rule.handler == "sql" else words, call)
        word = call.arguments.subcommand
        if rule.risk is not Risk.LOW or rule.handler or rule.operands not in {"data", "code"}:
            return []
        harm = harmful_verb(call.arguments.operands, call)
        if rule.operands == "code" or not is_subcommand(word, call):
            return harm
        why = f"Nothing is known about {word!r} of {call.arguments.path!r}"
        return [
            call.finding(Risk.MEDIUM, "unknown-subcommand", why, EffectKind.EXECUTE),
            *harm,
        ]

    def _printed(self, call: Call) -> Findings:
        """Words that are only printed or kept; but some of them run, and some are secrets."""
        findings = judge_subscripts(call)
        if SECRET_VARIABLE.search(call.command.source):
            why = "Prints a variable that is named like a secret"
            findings.append(call.finding(Risk.MEDIUM, "prints-secret", why))
        return findings

    def _secret_settings(self, call: Call) -> Findings:
        """`npm config get //host/:_authToken`, `git config http.extraheader`."""
        if not _ASKS_SETTINGS.search(call.arguments.path):
            return []
        named = [word.text for word in call.arguments.operands if _SECRET_SETTING.search(word.text)]
        why = f"Shows the setting {named[0]}, which holds a secret" if named else ""
        return [call.finding(Risk.HIGH, "shows-secret", why, EffectKind.READ)] if named else []

    def _base(self, call: Call, rule: CommandRule, dry: Sequence[Given]) -> Finding:
        risk, why = rule.risk, rule.explanation
        for given in dry:
            risk, why = Risk.LOW, given.rule.explanation or why
        if risk is Risk.HIGH and stays_here(call):
            risk, why = Risk.MEDIUM, "Changes only what is for trials, or on this machine."
        if risk is Risk.LOW and rule.risk is Risk.HIGH and call.arguments.unknown:
            risk = Risk.MEDIUM  # some of its options are not known
        if risk is Risk.HIGH and rule.looks and only_looks(call):
            risk, why = Risk.MEDIUM, "Looks at what is there, with the person's rights."
        elif risk is Risk.MEDIUM and rule.looks and rule.risk is risk and looks_at_once(call):
            risk, why = Risk.LOW, "Looks at what is there."
        if (
            EffectKind.EXECUTE in rule.effects
            and risk is Risk.LOW
            and not rule.wraps
            and not self._is_home_ground(call.cwds)
        ):
            risk, why = Risk.MEDIUM, f"{why} Here it runs outside the project"
        effects = rule.effects
        if rule.operands in _PATH_ROLES or rule.handler in _PATH_HANDLERS:  # told path by path
            effects = tuple(e for e in effects if e not in {EffectKind.WRITE, EffectKind.DELETE})
        return call.finding(risk, rule.rule, why, *effects)

    def _is_home_ground(self, cwds: Directories) -> bool:
        return all(cwd is not None and self.judge.territory.contains(cwd) for cwd in cwds)

    def _options(self, call: Call, *, is_dry: bool) -> Findings:
        findings: Findings = []
        for given in call.arguments.given:
            rule = given.rule
            if is_dry and rule.explanation.startswith(_UNDONE_BY_A_DRY_RUN):
                continue
            if given.name == "-c" and given.value and _is_plain_setting(given.value, call):
                continue
            if rule.explanation == "SQL" and _is_sql_file(call):
                continue  # its handler reads the statements
            if (
                rule.explanation in _ELSEWHERE
                and given.value
                and _PLAIN_HTTP.match(given.value.text)
            ):
                why = f"{given.name}: Packages come from a place that cannot prove what it is"
                findings.append(call.finding(Risk.HIGH, "option", why, EffectKind.EXECUTE))
            if rule.risk in {Risk.MEDIUM, Risk.HIGH}:
                kind = f"{call.arguments.path} {given.name}"
                why = rule.explanation or "This option does more than the command alone"
                findings.append(
                    call.finding(
                        rule.risk, "option", f"{given.name}: {why}", EffectKind.EXECUTE, kind=kind
                    )
                )
            if given.value is not None and rule.explanation == "inline code":
                findings += inline_code(given.value.text, call)
            if given.value is not None and rule.role not in {"value", "optional", "flag"}:
                findings += self._option_value(given, given.value, call)
        return findings

    def _option_value(self, given: Given, value: Word, call: Call) -> Findings:
        role = given.rule.role
        if value.text == "-" and role in {"read", "write", "output"}:
            return []  # a stream, not a file
        if role == "dir":
            call.cwds = tuple(
                join(c, value.text, home=self.judge.territory.home) if value.is_constant else None
                for c in call.cwds
            )
            return []
        if role == "run":
            return self._run_option(given, value, call)
        if role == "upload":
            path = value.text.rpartition("@")[2].split(";")[0].removeprefix("<")
            return call.reads([Word(path)]) if value.text[:1] == "@" or "=@" in value.text else []
        if role in {"task", "joined-task"}:
            return [judge_task(name, call) for name in value.text.split(",") if name]
        if role == "names":
            globs = [Word(glob) for glob in alternatives(value.text) if not glob.startswith("!")]
            return [found for found in call.reads(globs) if found.risk is Risk.HIGH]
        return self._by_role(role, [value], call)

    def _run_option(self, given: Given, value: Word, call: Call) -> Findings:
        """A pager or editor that is a shell runs whatever it is shown."""
        if value.text.startswith("//"):  # a label of Bazel
            return []
        program = value.text.split(" ")[0].rpartition("/")[2]
        findings = self.judge.shell(value.text, call)
        if given.rule.risk is not None and program in SHELLS:
            why = f"{given.name} names a shell as the program to run"
            findings.append(call.finding(Risk.HIGH, "given-shell", why, EffectKind.EXECUTE))
        if given.rule.risk is not None and any(f.rule == "script-outside" for f in findings):
            why = f"{given.name} makes it run a program that is not the project's"
            findings.append(call.finding(Risk.HIGH, "given-program", why, EffectKind.EXECUTE))
        return findings

    def _by_role(self, role: str, words: Sequence[Word], call: Call) -> Findings:
        match role:
            case "read":
                return call.reads(words)
            case "list":
                return call.reads(words, lists=True)
            case "copy":
                return call.reads(words[:-1]) + _into(words, call.writes(words[-1:]))
            case "script":
                return self.judge.script_file(words[0], call) if words else []
            case "task":
                before = words[: call.arguments.after_dashes]
                tasks = before if takes_many_tasks(call) else _first_of_each(words)
                sends = () if takes_many_tasks(call) else sending_tasks(words[1:], call)
                return [judge_task(w.text, call) for w in (*tasks, *sends) if "=" not in w.text]
        one = {
            "write": self._writes,
            "output": self._produces,
            "delete": self._deletes,
            "code": self._code,
        }.get(role)
        return [finding for word in words for finding in one(word, call)] if one else []

    def _writes(self, word: Word, call: Call) -> Findings:
        return call.writes([word])

    def _produces(self, word: Word, call: Call) -> Findings:
        location = self.judge.territory.locate(word.text, call.cwds)
        start = self.judge.territory.locate(word.text.partition(UNKNOWN)[0] or "/", call.cwds)
        if location.zone is Zone.UNKNOWN and start.zone is Zone.OUTSIDE:
            return call.writes([word])
        return [_lowered(location, finding) for finding in call.writes([word])]

    def _operands(self, call: Call, rule: CommandRule) -> Findings:
        words = call.arguments.operands
        if rule.handler == "editor":  # `+q` is a command of the editor
            words = [word for word in words if word.text[:1] != "+"]
        if rule.operands == "write" and any(
            g.rule.explanation == _WRITES_NOTHING for g in call.arguments.given
        ):
            return call.reads(words)
        if rule.operands == "pattern-read":
            whole = call.reads(searched_words(call))
            is_named = call.arguments.has("-e", "-f", "--regexp", "--file")
            return whole + call.reads(words if is_named else words[1:])
        return self._by_role(rule.operands, [*words, *substituted_words(call)], call)

    def _given_shells(self, call: Call, rule: CommandRule) -> Findings:
        """`nano -s /bin/sh`: whatever takes a shell as a word is likely to run it."""
        given = [(g.value.text, g.rule.risk) for g in call.arguments.given if g.value]
        takes_files = rule.operands not in {"data", "code", "task"}
        words = [] if rule.stops or rule.wraps or takes_files else call.arguments.operands
        if not (
            any(is_shell(word.text) for word in words)
            or any(is_shell(text) and not (rule.stops or takes_files) for text, _ in given)
            or any(risk is not None and names_shell(text) for text, risk in given)
        ):
            return []
        why = "A program that can run others is given a shell"
        return [call.finding(Risk.HIGH, "given-shell", why, EffectKind.EXECUTE)]

    def _named_outputs(self, call: Call) -> Findings:
        """Options of which no more is known than that by their names they write."""
        told = [*call.arguments.unknown, *_behind_dashes(call)]
        options = [option for option in told if OUTPUT_OPTION.match(option)]
        if not options:
            return self._kept(call)
        values = [value for o in options if (value := _joined_value(o))]
        if len(values) < len(options):  # `--output file`: which operand it is cannot be said
            values += [word.text for word in call.arguments.operands]
        named = [piece for value in values for piece in _pieces(value)]
        paths = [Word(text) for text in dict.fromkeys(named) if MAY_LEAVE.match(text)]
        found = [f for f in call.writes(paths) if f.risk is not Risk.LOW]
        return found + self._guarded_outputs(options, call) + self._kept(call)

    def _guarded_outputs(self, options: Sequence[str], call: Call) -> Findings:
        """`--report .git/hooks/x`: of words in the project only a guarded place counts."""
        if call.arguments.rule is None or call.arguments.path in _LISTS_NAMES:
            return []
        if call.arguments.rule.operands == "pattern-read":  # `-o` prints what matches
            return []
        values = [Word(option.partition("=")[2]) for option in options]
        named = [option for option in options if _NAMES_A_FILE.match(option)]
        values += [w for o, w in pairwise(call.command.words) if o.text in named]
        values = [w for w in values if w.text and w.text[0] != "-" and not MAY_LEAVE.match(w.text)]
        return [finding for finding in call.writes(values) if finding.is_guarded]

    def _kept(self, call: Call) -> Findings:
        """The same where a table knows the option, and says only that it takes a value."""
        given = [(g.name, g.value) for g in call.arguments.given if g.rule.role == "value"]
        values = [(n, v) for n, v in given if v is not None and OUTPUT_OPTION.match(n)]
        if not values:
            return []
        pieces = [piece for _, v in values for piece in _pieces(v.text)]
        far = [Word(piece) for piece in dict.fromkeys(pieces) if MAY_LEAVE.match(piece)]
        near = [v for n, v in values if not MAY_LEAVE.match(v.text) and _NAMES_A_FILE.match(n)]
        own = f"{self.judge.territory.home}/.cache/"
        return [
            *(f for f in call.writes(near) if f.is_guarded),
            *(
                f
                for f in call.writes(far)
                if f.risk is Risk.HIGH and not f.effects[0].target.startswith(own)
            ),
        ]

    def _with_named_files(self, findings: Findings, call: Call, rule: CommandRule) -> Findings:
        """Which files it reads, as far as its words say; and the credentials among them."""
        operands = call.reads(self._named_files(call))
        named = [*operands, *call.reads(self._named_values(call))]
        if rule.operands == "code":
            operands += call.reads(w for w in call.arguments.operands if "." not in w.text)
        if not (operands or named):
            return findings
        reads = (effect for finding in operands for effect in finding.effects)
        base = replace(findings[0], effects=(*findings[0].effects, *reads))
        if call.arguments.path in _NAMES_BRANCHES:
            return [base, *findings[1:]]
        shown = (f for f in named if f.risk is Risk.HIGH and f.rule != f"read-{RAW_DEVICES}")
        return [base, *findings[1:], *shown]

    def _named_files(self, call: Call) -> list[Word]:
        """Its operands are no paths as far as is known, but some name a file all the same."""
        left_out = names_left_out(call.command.words) if call.arguments.path in _FIND else ()
        words = [w for w in call.arguments.operands if " " not in w.text and w not in left_out]
        named = [_after_revision(w) for w in words if not _is_range(w, call)]
        is_listing = call.arguments.path in _LISTS_NAMES and not _shows_changes(call)
        files = [w for w in named if "/" in w.text or ("." in w.text and not is_listing)]
        return [*files, *_files_of_history(call)]

    def _named_values(self, call: Call) -> list[Word]:
        words = [g.value for g in call.arguments.given if g.value and g.rule.role == "value"]
        return [word for word in words if "/" in word.text and " " not in word.text]

    def _deletes(self, word: Word, call: Call) -> Findings:
        location = self.judge.territory.locate(word.text, call.cwds)
        return [
            Finding(
                risk=Risk.HIGH,
                rule="delete",
                part=call.part,
                kind=call.arguments.path,
                explanation=f"Deletes {location.path.replace(UNKNOWN, '…')}",
                effects=(Effect(kind=EffectKind.DELETE, target=location.path),),
            )
        ]

    def _code(self, word: Word, call: Call) -> Findings:
        return code_path(word.text, call)

    def _given_addresses(self, call: Call, rule: CommandRule) -> Findings:
        """`git clone https://github.com@evil.tld/x`, `pip -i http://169.254.169.254`."""
        if EffectKind.NETWORK not in rule.effects:
            return []
        findings: Findings = []
        for word in call.command.words[1:]:
            text = word.text.partition("=")[2] if word.text[:1] == "-" else word.text
            if "://" in text and (match := _ADDRESS.fullmatch(text)):
                findings.append(judge_url(match["scheme"] + match["rest"], call.part))
        return [found for found in findings if found.risk is Risk.HIGH]

    def _unknown_words(self, call: Call, rule: CommandRule) -> Findings:
        """A word that is known only at run time could be one of the dangerous options."""
        is_program = " " not in call.arguments.path and call.arguments.subcommand
        if is_program and rule.operands == "data" and call.arguments.operands[0].code:
            why = f"What {call.arguments.path!r} is told to do is known only when it runs"
            return [call.finding(Risk.HIGH, "computed-command", why, EffectKind.EXECUTE)]
        is_loose = any(
            w.text.startswith(UNKNOWN) and (w.splits or w.code) for w in call.arguments.operands
        )
        if is_loose and rule.operands != "delete" and _has_danger(call.arguments):
            return [
                call.finding(
                    Risk.MEDIUM,
                    "computed-words",
                    "Some of its words, perhaps options, are known only when it runs",
                )
            ]
        return []

    def _wrapped(self, call: Call, rule: CommandRule) -> Findings:
        words = call.arguments.operands[rule.skip :]
        while words and words[0].text == "--":
            words = words[1:]
        if not words:
            return []
        if rule.wraps == "shell":
            return self.judge.shell(" ".join(word.text for word in words), call)
        return self.judge.words(words, call)


def _pieces(value: str) -> tuple[str, ...]:
    """`../x`, `cache_dir=../x`, `html:../x`: where a place may stand in a value."""
    return value, value.rpartition("=")[2], value.rpartition(":")[2]


def _behind_dashes(call: Call) -> list[str]:
    """`npm test -- --outputFile=../x`: options for what a build or a test runs."""
    rule, at = call.arguments.rule, call.arguments.after_dashes
    if at is None or rule is None or EffectKind.EXECUTE not in rule.effects:
        return []
    return [word.text for word in call.arguments.operands[at:] if word.text[:1] == "-"]


def _joined_value(option: str) -> str:
    """`--output=x`, and `-o../x`."""
    name, _, value = option.partition("=")
    is_short = name[:2] in {"-o", "-O"} and MAY_LEAVE.match(name[2:])
    return option[2:] if is_short else value


def _first_of_each(words: Sequence[Word]) -> list[Word]:
    """`mise run lint ::: deploy` runs two tasks, each with words of its own."""
    return [
        word for before, word in pairwise((Word(_NEXT_TASK), *words)) if before.text == _NEXT_TASK
    ]


def _into(words: Sequence[Word], written: Findings) -> Findings:
    """`cp a/x.csv data`: if that is a folder, `data/x.csv` is what is written."""
    names = [posixpath.basename(word.text.rstrip("/")) for word in words[:-1]]
    return [
        replace(finding, effects=tuple(_in_folder(effect, names) for effect in finding.effects))
        for finding in written
    ]


def _in_folder(effect: Effect, names: Sequence[str]) -> Effect:
    inner = [f"{place}/{name}" for place in (effect.target, *effect.also) for name in names if name]
    return replace(effect, also=(*effect.also, *inner))


def _is_sql_file(call: Call) -> bool:
    return call.arguments.rule is not None and call.arguments.rule.rule == "sql-file"


def _dry(call: Call) -> list[Given]:
    """The options that make it harmless, of which nothing else is said: the last one counts."""
    given = call.arguments.given
    if not given:
        return []
    live = {g.name for g in given if not _is_dry(g)}
    return [g for g in given if _is_dry(g) and g.name not in live]


def _is_dry(given: Given) -> bool:
    """`--dry-run`, and not `--dry-run=false`."""
    is_off = given.value is not None and given.value.text in {"false", "none"}
    return given.rule.risk is Risk.LOW and given.rule.explanation != STAYS_HERE and not is_off


def _is_plain_setting(value: Word, call: Call) -> bool:
    is_git = call.command.words[0].text.rpartition("/")[2] == "git"
    return is_git and value.is_constant and _PLAIN_SETTING.match(value.text) is not None


_SHOWS_CHANGES = ("-p", "-u", "--patch", "-L", "-c", "--cc", "--word-diff", "--full-diff")


def _shows_changes(call: Call) -> bool:
    """`git log -p` shows what is in the files, and not only their names."""
    words = [word.text for word in call.arguments.rest]
    return call.arguments.path == "git log" and any(
        word in _SHOWS_CHANGES or word.startswith(("-L", "--patch-with", "--word-diff"))
        for word in words
    )


def _files_of_history(call: Call) -> list[Word]:
    """The files whose contents git shows: behind `--`, and in `-L1,5:file`."""
    if not (_shows_changes(call) or call.arguments.path in {"git diff", "git show", "git blame"}):
        return []
    words = [word.text for word in call.command.words[1:]]
    behind = words[words.index("--") + 1 :] if "--" in words else []
    lines = [word.rpartition(":")[2] for word in words if word.startswith("-L") and ":" in word]
    return [Word(text) for text in (*behind, *lines) if text]


def _after_revision(word: Word) -> Word:
    """`HEAD:.env` shows the file after the colon."""
    revision, colon, path = word.text.partition(":")
    return Word(path) if colon and path and "/" not in revision else word


def _is_range(word: Word, call: Call) -> bool:
    """`main...fix/credentials`: two branches, and no file."""
    return call.command.words[0].text == "git" and _RANGE.search(word.text) is not None


_RANGE = re.compile(r"[^/.]\.{2,3}[^/.]")


def _has_danger(arguments: Arguments) -> bool:
    return any(
        r.risk in {Risk.MEDIUM, Risk.HIGH} or r.role in {"write", "run", "output", "upload"}
        for r in arguments.options.values()
    )


def _lowered(location: Location, finding: Finding) -> Finding:
    """A build product may be anywhere in the project that is not guarded: `bin/$GOOS` too."""
    is_ordinary = location.zone in {Zone.PROJECT, Zone.SCRATCH} or (
        location.zone is Zone.UNKNOWN
        and location.path.startswith("/")
        and ".." not in location.path
    )
    if is_ordinary and location.place is None:
        return replace(finding, risk=Risk.LOW)
    return finding
