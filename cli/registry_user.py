"""`cdc-contracts registry user`: a line for the users file of the server."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError

_RIGHTS = ("read", "write", "delete", "admin")


def user(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the user.")],
    may: Annotated[
        list[str] | None, typer.Option("--may", metavar="RIGHT", help="read, write, delete, admin. Repeatable.")
    ] = None,
    subjects: Annotated[
        list[str] | None,
        typer.Option("--subject", metavar="PATTERN", help="On which subjects: 'orders-*', ':.team:*'. Repeatable."),
    ] = None,
    *,
    token: Annotated[bool, typer.Option("--token", help="Create a bearer token instead of a password.")] = False,
) -> None:
    """Print a line for the users file of `registry serve`.

    The password is prompted for, or read from piped standard input; it is never an argument.
    """
    from cdc_contracts.registry.server.access import passwords
    from cdc_contracts.registry.server.access.rights import is_pattern

    if not name or ":" in name or any(char.isspace() for char in name):
        raise UsageError("a user name must not contain colons or spaces", where=name)
    if wrong := sorted(set(may or ()) - set(_RIGHTS)):
        raise UsageError(f"there is no right `{wrong[0]}`", hint=f"Rights are {', '.join(_RIGHTS)}.")
    if wrong := [pattern for pattern in subjects or () if not is_pattern(pattern)]:
        raise UsageError(
            f"`{wrong[0]}` is not a subject pattern", hint="Write :.context:name for the subjects of a context."
        )
    if token:
        made = passwords.make_token()
        console.say(f"the token, shown only once and not stored: {made}")
        secret = {"token": passwords.hash_token(made)}
    else:
        secret = {"password": passwords.hash_password(_ask_password())}
    given = {"may": may or ["read"], "subjects": subjects or ["*", ":.cdc-contracts:*"]}
    console.print_line(_line_of(name, {**secret, "rights": [given]}))


def _ask_password() -> str:
    from cdc_contracts.registry.server.access.passwords import LONGEST

    if sys.stdin.isatty():
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise UsageError("there is no password", hint="Type it, or pipe one line to standard input.")
    if len(password.encode()) > LONGEST:
        raise UsageError(f"the password is longer than {LONGEST:,} bytes")
    return str(password)


def _line_of(name: str, entry: dict[str, object]) -> str:
    import yaml

    written = yaml.safe_dump({name: entry}, default_flow_style=True, width=float("inf"), sort_keys=False)
    return "  " + written.strip().removeprefix("{").removesuffix("}")
