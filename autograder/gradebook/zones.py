"""Finds the machine's time zone, with the rules for each date (summer time), for files that name none."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

LOCALTIME = "/etc/localtime"


class MachineZone(tzinfo):
    """The operating system's zone where its name is unknown, as on Windows."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        return _local(dt).utcoffset()

    def dst(self, dt: datetime | None) -> timedelta | None:
        return None

    def tzname(self, dt: datetime | None) -> str | None:
        return _local(dt).tzname()

    def fromutc(self, dt: datetime) -> datetime:
        return dt.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)


def _local(dt: datetime | None) -> datetime:
    return datetime.now().astimezone() if dt is None else dt.replace(tzinfo=None).astimezone()


def machine_zone() -> tuple[tzinfo, str]:
    """The machine's zone and its name: `Europe/Berlin`, or `CET` if the database has no name for it."""
    name = os.environ.get("TZ", "").lstrip(":") or os.path.realpath(LOCALTIME).partition("/zoneinfo/")[2]
    try:
        return ZoneInfo(name), name
    except (KeyError, ValueError, OSError):
        zone = MachineZone()
        return zone, zone.tzname(None) or "local time"
