"""Kinds of values in a controller's configuration: what each accepts, and the sentence that refuses all else."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import Annotated

from pydantic import BeforeValidator

from penstock.live.server.log import LEVELS
from penstock.model.units import Refusal, number, shown, whole
from penstock.wire.messages import AUTH_KINDS, KINDS
from penstock.wire.site import FIRST_CONTACT


def _mode(value: object) -> int:
    """Permissions, as `chmod` takes them: "0660", or 0660, which YAML reads as an octal number."""
    text = value if isinstance(value, str) else f"{value:o}" if type(value) is int else ""
    if not re.fullmatch(r"0?o?[0-7]{3}", text):
        raise Refusal(f'is {shown(value)}; permissions are three octal digits, such as "0660"')
    return int(text.replace("o", ""), 8)


def _file(value: object) -> str:
    if isinstance(value, str) and value and "\0" not in value:
        return os.path.expanduser(value)
    raise Refusal(f"is {shown(value)}; expected the name of a file")


def _one_of(value: object, known: tuple[str, ...]) -> object:
    if value not in known:
        raise Refusal(f"is {shown(value)}; accepted: {', '.join(known)}")
    return value


def _switch(value: object) -> object:
    if not isinstance(value, bool):
        raise Refusal(f"is {shown(value)}; accepted: true, false")
    return value


def _listen(value: object) -> str:
    if (
        not isinstance(value, str)
        or not re.fullmatch(r"(\[[^\]]+\]|[^:\s]+):\d{1,5}", value)
        or port_of(value) > 65_535
    ):
        raise Refusal(f'is {shown(value)}; expected an address and a port, such as "0.0.0.0:7440" or "[::]:7440"')
    return value


def _time_of_day(value: object) -> int:
    """Minutes since midnight; YAML reads 18:30 without quotes as a number of the base 60, which is the same."""
    if type(value) is int and 0 <= value < 24 * 60:
        return value
    found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", value) if isinstance(value, str) else None
    if found is None:
        raise Refusal(f'is {shown(value)}; expected a time of the day, such as "18:30"')
    return 60 * int(found[1]) + int(found[2])


def port_of(listen: str) -> int:
    """The port of "host:port"."""
    return int(listen.rpartition(":")[2])


def host_of(listen: str) -> str:
    """The host of "host:port"."""
    return listen.rpartition(":")[0].strip("[]")


Mode = Annotated[int, BeforeValidator(_mode)]
File = Annotated[str, BeforeValidator(_file)]
TimeOfDay = Annotated[int, BeforeValidator(_time_of_day)]
Listen = Annotated[str, BeforeValidator(_listen)]
Switch = Annotated[bool, BeforeValidator(_switch)]
Part = Annotated[float, BeforeValidator(partial(number, accepted="expected a number from 0 to 1", most=1.0))]
User = Annotated[int, BeforeValidator(partial(whole, accepted="a user id is a whole number ≥ 0", least=0))]
Port = Annotated[int, BeforeValidator(partial(whole, accepted="a port is a number from 1 to 65535", most=65_535))]
Direction = Annotated[str, BeforeValidator(partial(_one_of, known=("read", "write")))]
Kind = Annotated[str, BeforeValidator(partial(_one_of, known=KINDS))]
Durability = Annotated[str, BeforeValidator(partial(_one_of, known=("write", "sync")))]
Reserve = Annotated[str, BeforeValidator(partial(_one_of, known=("bounded", "strict")))]
FirstContact = Annotated[str, BeforeValidator(partial(_one_of, known=FIRST_CONTACT))]
Level = Annotated[str, BeforeValidator(partial(_one_of, known=LEVELS))]
AuthKind = Annotated[str, BeforeValidator(partial(_one_of, known=AUTH_KINDS))]
