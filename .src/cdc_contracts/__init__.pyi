# What `__init__.py` exports, for type checkers and editors: there it is imported when it is first used.
from cdc_contracts.api.contracts import Contract, contract, detect
from cdc_contracts.api.messages import Message
from cdc_contracts.api.results import (
    Change,
    CheckedMessage,
    Control,
    DecodedMessage,
    Detection,
    ExplainedFinding,
    Explanation,
    Finding,
)
from cdc_contracts.registry.common.errors import CdcContractsError, UsageError

__version__: str

__all__ = [
    "CdcContractsError",
    "Change",
    "CheckedMessage",
    "Contract",
    "Control",
    "DecodedMessage",
    "Detection",
    "ExplainedFinding",
    "Explanation",
    "Finding",
    "Message",
    "UsageError",
    "__version__",
    "contract",
    "detect",
]
