"""Programs that show a directory to whoever asks: what is in it is given away."""

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.shell.script import Word


@handles("file-server")
def file_server(call: Call) -> Findings:
    """`python -m http.server -d ~`, `cd / && npx serve`: a home holds credentials."""
    given = (word.text for word in call.command.words[1:])
    places = [text.partition("=")[2] if text.startswith("-") else text for text in given]
    read = call.reads([Word("."), *map(Word, filter(None, places))])
    if not any(found.rule == "read-broad" or found.risk is Risk.HIGH for found in read):
        return []
    why = "Serves a directory that holds credentials among much else"
    return [call.finding(Risk.HIGH, "serves-credentials", why, EffectKind.NETWORK)]
