"""`cdc-contracts registry`: the server that schema registry clients talk to, and what goes into it."""

from __future__ import annotations

import typer

from cdc_contracts.cli import enrolling

app = typer.Typer(help="Serve contracts and schemas to schema registry clients.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Serve contracts and schemas to schema registry clients."""


app.command("user", short_help="Make a line of the users file: a hash, never a password.")(enrolling.user)
