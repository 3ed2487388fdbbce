"""The options of the command line by the Python name of the parameter that they set."""

from __future__ import annotations

_NAMED_OTHERWISE = {
    "guarantee": "--accept-no-guarantee",
    "existing": "--force",
    "activities": "--activity",
    "attributes": "--attribute",
    "metrics": "--metric",
    "rungs": "--ladder",
    "end_activities": "--end-activity",
    "parts": "--with",
    "times": "--without times",
}


def option_name(parameter: str) -> str:
    """Return the option that sets a parameter.

    >>> option_name("max_cases"), option_name("rungs"), option_name("attributes"), option_name("metrics")
    ('--max-cases', '--ladder', '--attribute', '--metric')
    """
    return _NAMED_OTHERWISE.get(parameter, f"--{parameter}".replace("_", "-"))
