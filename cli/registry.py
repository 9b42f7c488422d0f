"""`cdc-contracts registry`: the schema registry server, and its synchronisation with a folder."""

from __future__ import annotations

import typer

from cdc_contracts.cli import registry_serve, registry_sync, registry_user

app = typer.Typer(help="Serve contracts and schemas to schema registry clients.", no_args_is_help=True)


app.command("serve", short_help="Serve schemas and contracts over the registry protocol.")(registry_serve.serve)
app.command("user", short_help="Print a line for the users file, with a hash.")(registry_user.user)
app.command("plan", short_help="Show what apply would do.")(registry_sync.plan)
app.command("apply", short_help="Make a server match a folder.")(registry_sync.apply)
app.command("push", short_help="Register what is new; ids go to ids.lock.")(registry_sync.push)
app.command("dump", short_help="Write everything on a server to a folder.")(registry_sync.dump)
app.command("pull", short_help="Write what is newer on a server to a folder.")(registry_sync.pull)
app.command("ids", short_help="Assign ids to schemas of contracts in ids.lock.")(registry_sync.ids)
