"""Channels that reach nobody, for commands that people look at: without waking the engine."""

from typing import TYPE_CHECKING

from perpetualcc.domain.locations import Locations
from perpetualcc.domain.times import moment
from perpetualcc.store.looking import any_failed

if TYPE_CHECKING:
    from perpetualcc.human.notifications.standing import Standstill

REMEDY = "mend it, or correct notifications.urls and: pcc daemon restart; then try: pcc notify test"


def unreached(places: Locations) -> "list[Standstill]":
    """
    The channels of the settings that have failed at every try for an hour.

    Raises PerpetualError: the settings have a mistake.
    """
    return _unreached(places) if any_failed(places.database) else []


def _unreached(places: Locations) -> "list[Standstill]":
    import time
    from datetime import timedelta

    from perpetualcc import config
    from perpetualcc.config.file import load_config
    from perpetualcc.human.notifications.channels import find_channels
    from perpetualcc.human.notifications.standing import address_of, standstills
    from perpetualcc.store.notices import tried_notices

    settings = load_config().notifications
    channels = find_channels(settings, config.resolve, desktop_program=None)
    addresses = [address_of(one.name) for one in channels]
    first = timedelta(seconds=settings.retry_seconds)
    return standstills(tried_notices(places.database), addresses, first, time.time())


def described(one: "Standstill") -> str:
    """What a person reads, in one line."""
    since = moment(one.since)
    return f"{one.channel} has failed since {since} ({one.tries} tries): {one.problem}"
