"""Tests of consumers: messages of every contract version, and assertions about messages. A pytest plugin is part of it.

```python
from cdc_contracts.testing import assert_conforms, messages

def test_the_producer_writes_what_its_contract_says():
    assert_conforms(produce(), "dts/canal@2")
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cdc_contracts.testing.contract_cases import ContractCase
    from cdc_contracts.testing.message_assertions import assert_conforms
    from cdc_contracts.testing.sent_messages import messages

__all__ = ["ContractCase", "assert_conforms", "messages"]

_HOMES = {"ContractCase": "contract_cases", "assert_conforms": "message_assertions", "messages": "sent_messages"}


def __getattr__(name: str) -> object:
    """Import a name when it is first used: pytest loads the plugin in every run."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
