# What `__init__.py` exports, for type checkers and editors: there it is imported when it is first used.
from cdc_contracts.api.batches import DecodedBatch
from cdc_contracts.api.contracts import Contract, contract, detect
from cdc_contracts.api.messages import Message
from cdc_contracts.api.results import (
    AuditReport,
    Change,
    CheckedMessage,
    Control,
    DecodedMessage,
    Detection,
    ExplainedFinding,
    Explanation,
    Finding,
    ReportedDrift,
    UndecidedChange,
)
from cdc_contracts.api.spark_frames import DecodedFrames, FrameAudit, audit, decode
from cdc_contracts.registry.core.common.errors import CdcContractsError, UndecidedError, UsageError

__version__: str

__all__ = [
    "AuditReport",
    "CdcContractsError",
    "Change",
    "CheckedMessage",
    "Contract",
    "Control",
    "DecodedBatch",
    "DecodedFrames",
    "DecodedMessage",
    "Detection",
    "ExplainedFinding",
    "Explanation",
    "Finding",
    "FrameAudit",
    "Message",
    "ReportedDrift",
    "UndecidedChange",
    "UndecidedError",
    "UsageError",
    "__version__",
    "audit",
    "contract",
    "decode",
    "detect",
]
