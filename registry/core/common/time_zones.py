"""Time zones that a user names because the wire does not."""

from __future__ import annotations

import re
from datetime import timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

Zone = ZoneInfo | timezone

_OFFSET = re.compile(r"([+-])([01]\d|2[0-3]):([0-5]\d)\Z", re.ASCII)


@lru_cache(256)
def parse_zone(text: str) -> Zone:
    """Return the zone of `Asia/Shanghai`, `+08:00`, `UTC` or `Z`. Raises ValueError if there is no such zone."""
    if text in ("Z", "UTC"):
        return timezone.utc  # noqa: UP017  `datetime.UTC` is not a `timezone` for every type checker
    match = _OFFSET.match(text)
    if match:
        sign, hours, minutes = match.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-offset if sign == "-" else offset)
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"`{text}` is not a time zone: write Asia/Shanghai or +08:00") from error
