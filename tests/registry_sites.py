"""The server as `registry serve` runs it, in a thread: users, contracts, pages and figures around the store."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path

import yaml
from registry_servers import listening

from cdc_contracts.registry.server.access.passwords import hash_password, hash_token
from cdc_contracts.registry.server.access.users import Users
from cdc_contracts.registry.server.running.connection_limits import USUAL
from cdc_contracts.registry.server.running.listening import Listener
from cdc_contracts.registry.server.running.serving import Site
from cdc_contracts.registry.server.service.builtin_subjects import catalogue_of, fill_builtin_subjects

CHEAP = 2**4
"""A cost of scrypt that tests can afford."""


@functools.cache
def _shipped():
    return catalogue_of([]), fill_builtin_subjects([])


def make_site(url, *, users=None, folders=(), shipped=True, **more):
    if folders or not shipped:
        catalogue, builtin = catalogue_of(folders), fill_builtin_subjects(folders, catalogue=shipped)
    else:
        catalogue, builtin = _shipped()
    return Site(url, catalogue, builtin, Users(users), **more)


@contextlib.contextmanager
def serving_site(url, limits=USUAL, **more):
    """A server on a port of its own; yields its address."""
    app, store = make_site(url, **more).open()
    with listening(Listener(app, limits=limits), store) as address:
        yield address


@functools.cache
def cheap_hash(password):
    return hash_password(password, cost=CHEAP)


def write_users(path: Path, users, anonymous=None):
    """A users file. Each user is a password or `token:…`, and rights: (may, subjects) pairs."""
    document = {"users": {}}
    for name, (secret, *rights) in users.items():
        token = secret.removeprefix("token:")
        key = {"token": hash_token(token)} if token != secret else {"password": cheap_hash(secret)}
        document["users"][name] = {**key, "rights": _rights(rights)}
    if anonymous is not None:
        document["anonymous"] = {"rights": _rights(anonymous)}
    path.write_text(yaml.safe_dump(document))
    return path


def _rights(pairs):
    return [{"may": may.split(), "subjects": list(subjects)} for may, *subjects in pairs]
