"""Where people can be told: this machine's desktop, and addresses in the configuration."""

import hashlib
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from perpetualcc.human.notifications.settings import NotificationSettings

DESKTOP = "desktop"

_SCRIPT = (
    "on run argv",
    (
        "display notification (item 1 of argv) with title (item 2 of argv)"
        " subtitle (item 3 of argv) sound name (item 4 of argv)"
    ),
    "end run",
)
"""The texts are arguments, never part of the script: nothing in them can become AppleScript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """One way to a person."""

    name: str
    """`desktop`, or the address's scheme and a few letters of its hash: never the address."""
    url: str = ""

    @property
    def is_remote(self) -> bool:
        return bool(self.url)


def find_channels(
    settings: NotificationSettings,
    resolve: Callable[[str], str],
    *,
    desktop_program: str | None,
) -> tuple[Channel, ...]:
    """
    Every channel that the settings name.

    `resolve` gives the value behind `env:NAME`, or an empty text. A name with nothing behind it
    is a channel too: what it cannot send is shown as failed.
    """
    if not settings.enabled:
        return ()
    found = []
    if settings.desktop and desktop_program is not None:
        found.append(Channel(name=DESKTOP))
    for written in settings.urls:
        url = resolve(written)
        found.append(Channel(name=channel_name(written, url), url=url or written))
    return tuple(dict.fromkeys(found))


def channel_name(written: str, url: str) -> str:
    scheme = url.partition("://")[0] if "://" in url else "unknown"
    if written.startswith("env:"):
        return f"{scheme}:{written.removeprefix('env:')}"
    return f"{scheme}:{hashlib.sha256(url.encode()).hexdigest()[:6]}"


def desktop_program() -> str | None:
    """The program that shows a message on this machine's desktop; None: there is none."""
    return shutil.which("osascript" if sys.platform == "darwin" else "notify-send")


def desktop_command(
    program: str, title: str, subtitle: str, body: str, *, sound: bool, urgent: bool
) -> Sequence[str]:
    """The argv that shows a message. No text in it can become a script, an option or markup."""
    if program.endswith("osascript"):
        script = [part for line in _SCRIPT for part in ("-e", line)]
        # A leading dash would be read as an option.
        return [program, *script, *map(_undashed, (body, title, subtitle, "Ping" if sound else ""))]
    urgency = "critical" if urgent else "normal"
    heading = f"{title}: {subtitle}" if subtitle else title
    options = ["--app-name=PerpetualCC", f"--urgency={urgency}"]
    return [program, *options, "--", heading, escape(body, quote=False)]


def _undashed(text: str) -> str:
    return f" {text}" if text.startswith("-") else text


def order_for(
    channel: Channel, title: str, body: str, *, program: str | None, sound: bool, urgent: bool
) -> Mapping[str, Any]:
    """What `post` is told to do, as JSON."""
    if channel.is_remote:
        return {"url": channel.url, "title": title, "body": body}
    name, _, subtitle = title.partition(": ")
    argv = desktop_command(program or "", name, subtitle, body, sound=sound, urgent=urgent)
    return {"argv": list(argv)}
