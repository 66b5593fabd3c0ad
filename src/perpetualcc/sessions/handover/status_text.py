"""`status.txt`, in the format of seed 001."""

from perpetualcc.sessions.handover.thresholds import Level, Thresholds, time_level, token_level

_ADVICE = {
    Level.NORMAL: "Continue working",
    Level.WARNING: "WARNING - Complete current task and trigger handover",
    Level.CRITICAL: "CRITICAL - Handover in progress",
}


def status_text(limits: Thresholds, tokens: int, minutes: float, level: Level) -> str:
    """
    Three lines: `TOKENS: 87,432 / 120,000 (73%) - NORMAL`, `TIME: …`, `STATUS: …`.

    `level` is the session's, which may be above what the numbers say: a person asked, too.
    """
    share = round(tokens * 100 / max(limits.hard_tokens, 1))
    hard = "" if limits.hard_minutes is None else f" / {_minutes(limits.hard_minutes)}"
    return (
        f"TOKENS: {tokens:,} / {limits.hard_tokens:,} ({share}%) - {token_level(limits, tokens)}\n"
        f"TIME: {_minutes(minutes)}{hard} minutes - {time_level(limits, minutes)}\n"
        f"STATUS: {_ADVICE[level]}\n"
    )


def _minutes(minutes: float) -> str:
    return f"{minutes:.0f}" if minutes >= 10 or minutes == int(minutes) else f"{minutes:.1f}"
