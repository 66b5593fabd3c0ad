"""Channels that reach nobody, for commands that people look at: without waking the engine."""

import time
from datetime import timedelta

from perpetualcc import config
from perpetualcc.cli.look import moment
from perpetualcc.domain.locations import Locations
from perpetualcc.human.notifications.channels import find_channels
from perpetualcc.human.notifications.standing import Standstill, address_of, standstills
from perpetualcc.store.notices import tried_notices

REMEDY = "mend it, or correct notifications.urls and: pcc daemon restart; then try: pcc notify test"


def unreached(places: Locations) -> list[Standstill]:
    """
    The channels of the settings that have failed at every try for an hour.

    Raises PerpetualError: the settings have a mistake.
    """
    tried = tried_notices(places.database)
    if not any(one.problem for one in tried):
        return []
    from perpetualcc.config.file import load_config  # seldom wanted

    settings = load_config().notifications
    channels = find_channels(settings, config.resolve, desktop_program=None)
    addresses = [address_of(one.name) for one in channels]
    first = timedelta(seconds=settings.retry_seconds)
    return standstills(tried, addresses, first, time.time())


def described(one: Standstill) -> str:
    """What a person reads, in one line."""
    since = moment(one.since)
    return f"{one.channel} has failed since {since} ({one.tries} tries): {one.problem}"
