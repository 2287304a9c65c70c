"""Days and years without bounds: the proleptic Gregorian calendar and ISO weeks, on whole numbers.

Rules: `ISOChronology` of Joda-Time. Days count from 1970-01-01; Python's own dates end at the years 1 and 9999, Java's do not.
"""

from __future__ import annotations

from typing import Final

DAY_MS: Final = 86_400_000
_DAYS_OF_400_YEARS: Final = 146_097
_FROM_MARCH_OF_YEAR_0: Final = 719_468


def day_of(year: int, month: int, day: int) -> int:
    """Return the number of a date; the day may lie outside of its month.

    Example:
        >>> day_of(1970, 1, 1), day_of(2024, 2, 29), day_of(0, 1, 1)
        (0, 19782, -719528)
    """
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * _DAYS_OF_400_YEARS + of_era * 365 + of_era // 4 - of_era // 100 + of_year - _FROM_MARCH_OF_YEAR_0


def date_of(days: int) -> tuple[int, int, int]:
    """Return year, month and day.

    Example:
        >>> date_of(19782)
        (2024, 2, 29)
    """
    era, of_era = divmod(days + _FROM_MARCH_OF_YEAR_0, _DAYS_OF_400_YEARS)
    years = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146_096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    from_march = (5 * of_year + 2) // 153
    month = from_march + (3 if from_march < 10 else -9)
    return years + era * 400 + (month <= 2), month, of_year - (153 * from_march + 2) // 5 + 1


def days_in_month(year: int, month: int) -> int:
    """Return how many days a month has."""
    return day_of(year + month // 12, month % 12 + 1, 1) - day_of(year, month, 1)


def days_in_year(year: int) -> int:
    """Return how many days a year has."""
    return day_of(year + 1, 1, 1) - day_of(year, 1, 1)


def weekday_of(days: int) -> int:
    """Return the ISO day of the week: 1 for Monday to 7 for Sunday."""
    return (days + 3) % 7 + 1


def week_of(days: int) -> tuple[int, int]:
    """Return week year and week of ISO 8601.

    Example:
        >>> week_of(day_of(2021, 1, 3))
        (2020, 53)
    """
    thursday = days - weekday_of(days) + 4
    year = date_of(thursday)[0]
    return year, (thursday - day_of(year, 1, 1)) // 7 + 1


def first_day_of_week_year(year: int) -> int:
    """Return the Monday with which a week year begins."""
    fourth_of_january = day_of(year, 1, 4)
    return fourth_of_january - weekday_of(fourth_of_january) + 1


def weeks_in_week_year(year: int) -> int:
    """Return 52 or 53."""
    return (first_day_of_week_year(year + 1) - first_day_of_week_year(year)) // 7
