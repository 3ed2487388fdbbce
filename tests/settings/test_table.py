"""The table of settings: every front end takes the same names and values from it."""

from inspect import signature
from typing import Any, get_args

import attrs
import pytest
import typer

import travas
from travas import ParameterError
from travas.cli import main as cli
from travas.log.options import Resolution
from travas.mechanisms import MECHANISMS
from travas.mechanisms.ladder import Shares
from travas.mechanisms.registry import options_of
from travas.pipeline import GuaranteeRule, Request
from travas.releases.release import Frequencies
from travas.settings.table import BY_NAME, SETTINGS, setting
from travas.sources.files import Format
from travas.sources.period import Calendar
from travas.sources.reading import Decimal, DuplicateCases, DuplicateEvents, Lifecycle, OnMissing, Order


def commands(group: Any) -> dict[str, Any]:
    """All commands by name, those of groups included."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        found |= commands(command) if hasattr(command, "commands") else {name: command}
    return found


COMMANDS = commands(typer.main.get_command(cli.app))


def test_every_option_of_a_reading_a_mechanism_and_a_request_is_a_setting() -> None:
    of_mechanisms = {option for kind in MECHANISMS.values() for option in options_of(kind)} - {"person_table"}
    of_rules = {field.name for field in attrs.fields(travas.Rules)} | {"reference_model"}
    assert of_rules == {each.name for each in SETTINGS if each.section == "rules"}
    of_readings = {field.name for field in attrs.fields(travas.Reading)} - {"counted", "details"}  # of the mechanism
    of_requests = {*Request.__dataclass_fields__} - {"source", "reading", "existing", "origin", "approval"}
    of_periods = {field.name for field in attrs.fields(travas.Period)} - {"name"}
    functions = (travas.anonymize, travas.synthesize, travas.process_map)
    of_functions = {name for each in functions for name in signature(each).parameters} - {
        *("source", "reading", "watch", "options")
    }
    of_mechanisms, of_functions = of_mechanisms - {"rules"}, of_functions - {"rules"}
    assert of_mechanisms | of_readings | of_requests | of_periods | of_functions <= set(BY_NAME)


def test_commands_show_at_most_16_options_and_take_every_setting() -> None:
    root: Any = typer.main.get_command(cli.app)
    assert len(root.commands) <= 16
    for name, command in COMMANDS.items():
        options = [each for each in command.params if each.param_type_name == "option"]
        assert len([each for each in options if not each.hidden]) < 16, name  # and --help
        if any("--set" in each.opts for each in options) and name != "release":
            assert any("--help-all" in each.opts for each in options)
    for name in ("anonymize", "synthesize", "map"):
        flags = {flag for each in COMMANDS[name].params for flag in each.opts}
        assert {each.flag for each in SETTINGS} - {"--log", "--folder", "--every"} <= flags


def test_examples_are_values_and_no_other_types_are() -> None:
    for each in SETTINGS:
        assert each.parse(each.example) is not None
        with pytest.raises(ParameterError) as refused:
            each.parse(value := 1.5)
        assert refused.value.field == each.name and str(value) in str(refused.value)
        with pytest.raises(ParameterError):
            each.parse("")
        if each.kind == "choice":
            with pytest.raises(ParameterError, match="use one of"):
                each.parse("no such choice")
    assert BY_NAME["max_cases"].parse(3) == BY_NAME["max_cases"].parse("3") == 3
    assert BY_NAME["epsilon"].parse("1/3") == "1/3" and BY_NAME["activity"].parse("a") == ("a",)
    with pytest.raises(ParameterError, match="did you mean 'max_cases'"):
        setting("max-case")


LITERALS = {
    "format": Format, "order": Order, "on_missing": OnMissing, "duplicate_cases": DuplicateCases, "lifecycle": Lifecycle,
    "decimal": Decimal,
    "duplicate_events": DuplicateEvents, "guarantee": GuaranteeRule, "resolution": Resolution, "frequencies": Frequencies,
    "every": Calendar, "shares": Shares,
}  # fmt: skip


def test_choices_are_those_of_the_types() -> None:
    """They are written out in the table, so that `travas --help` imports nothing else."""
    assert {each.name: each.choices for each in SETTINGS if each.choices and each.name != "times"} == {
        name: get_args(kind) for name, kind in LITERALS.items()
    }
    assert ", ".join(MECHANISMS) in BY_NAME["mechanism"].help
