"""Texts cut to the room there is for them; an ellipsis at the end says so."""


def cut(text: str, most: int) -> str:
    """At most so many characters of it."""
    return text if len(text) <= most else text[: most - 1] + "…"


def first_line(text: str, most: int) -> str:
    """At most so many characters of the first line that is not blank; empty when there is none."""
    return cut(next((line.strip() for line in text.splitlines() if line.strip()), ""), most)
