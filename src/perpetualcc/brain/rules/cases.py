"""Lines that say one thing for one case, and another for the next."""

import re

from perpetualcc.brain.rules.asking import Asked
from perpetualcc.brain.rules.choices import Choice, core, generic
from perpetualcc.brain.rules.evidence import Clause
from perpetualcc.brain.rules.mentions import weak
from perpetualcc.brain.rules.nearness import has
from perpetualcc.brain.rules.terms import read_terms, values
from perpetualcc.brain.rules.text import fold, stem


def is_said_of_another(asked: Asked, clause: Clause, clauses: tuple[Clause, ...]) -> bool:
    """ "Guests may order without an account; companies need one", and companies are asked about."""
    telling = asked.stems - weak() - generic()
    subject = next((term.value for term in clause.terms if term.value), "")
    if not subject or has(asked.stems, subject):
        return False
    here = {word for word in telling if has(clause.about, word)}
    return any(
        other.statement is clause.statement
        and other is not clause
        and any(has(other.said_words, word) for word in telling - here)
        for other in clauses
    )


_DEFAULT = re.compile(
    r"\b(?:default|defaults|standard(?:massig)?|voreingestellt|vorgabe|par defaut|por defecto|"
    r"predeterminad\w+|por padrao|predefinit\w+|standaard)\b|по умолчанию|默认|既定|기본"
)
_BETWEEN = re.compile(r"[,;.]\s+|\s(?:but|aber|pero|mais|ma|maar|no)\s", re.IGNORECASE)


def is_no_default(asked: Asked, choice: Choice, clause: Clause) -> bool:
    """ "Dark is the default, light can be switched on": asked for the default, light is none."""
    if not _DEFAULT.search(asked.whole):
        return False
    parts = _BETWEEN.split(clause.statement.text)
    named = [part for part in parts if _DEFAULT.search(fold(part))]
    if len(named) != 1 or len(parts) == 1:
        return False
    said = values(read_terms(named[0], prose=True)) | {
        stem(word) for word in re.findall(r"[^\W\d_]+", fold(named[0]))
    }
    return not any(has(said, word) for one in (choice.every, *choice.spellings) for word in one)


_REST = re.compile(
    r"\b(?:(?:every|any)thing (?:else|longer|larger|bigger|smaller|shorter|older|newer|more|less|"
    r"above|below|over|under|beyond)|all (?:the )?others?|the rest|otherwise|or else|"
    r"sonst(?:ige\w*)?|ansonsten|alles (?:andere|ubrige|weitere|was)|der rest|(?:todo )?lo demas|"
    r"el resto|de lo contrario|sinon|(?:tout )?le reste|autrement|o resto|caso contrario|senao|"
    r"altrimenti|(?:tutto )?il resto|anders|de rest|w przeciwnym razie|pozostal\w+|aksi halde|"
    r"digerleri)\b|иначе|остальн|否则|其余|其他|それ以外|その他|그 외|나머지"
)


def leaves_a_rest(clause: Clause, others: tuple[Choice, ...]) -> bool:
    """ "In Bash up to 50 lines, anything longer in Python": which case it is, a person sees."""
    text = clause.statement.text
    if not _REST.search(fold(text)):
        return False
    said = values(read_terms(text))
    return any(core(other.own) <= said for other in others)
