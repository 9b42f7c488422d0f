"""The command that installs an extra names the package by where it came from, since no index may have it yet."""

import json
from importlib import metadata

import pytest

from cdc_contracts.registry.core.common.extras import install_command


class Installed:
    """A distribution whose `direct_url.json` pip wrote, as PEP 610 has it."""

    def __init__(self, url):
        self.url = url

    def read_text(self, name):
        return self.url if name == "direct_url.json" else None


@pytest.mark.parametrize(
    ("url", "command"),
    [
        (None, "pip install 'cdc-contracts[arrow,kafka]'"),
        (
            {"url": "file:///src/my%20code", "dir_info": {"editable": True}},
            "pip install -e '/src/my code[arrow,kafka]'",
        ),
        ({"url": "file:///src/code", "dir_info": {}}, "pip install 'cdc-contracts[arrow,kafka] @ file:///src/code'"),
        (
            {"url": "file:///w/cdc_contracts-1-py3-none-any.whl", "archive_info": {}},
            "pip install 'cdc-contracts[arrow,kafka] @ file:///w/cdc_contracts-1-py3-none-any.whl'",
        ),
        (
            {
                "url": "https://git.example.com/c",
                "vcs_info": {"vcs": "git", "commit_id": "1f3a", "requested_revision": "v1"},
            },
            "pip install 'cdc-contracts[arrow,kafka] @ git+https://git.example.com/c@1f3a'",
        ),
    ],
)
def test_an_extra_is_installed_from_where_the_package_came(monkeypatch, url, command):
    monkeypatch.setattr(metadata, "distribution", lambda _: Installed(url and json.dumps(url)))
    assert install_command("arrow", "kafka") == command


def test_a_package_that_was_not_installed_is_named_as_it_is(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_command("arrow") == "pip install 'cdc-contracts[arrow]'"
