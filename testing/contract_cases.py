"""Contract cases: the messages of one version, and what a consumer should read from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cdc_contracts.api.results import Change, DecodedMessage, Value
from cdc_contracts.registry.core.contract.phrases import describe_application
from cdc_contracts.testing.sent_messages import MessageSender

STREAM = "stream"
EDGES = "edges"


@dataclass(frozen=True, repr=False)
class ContractCase:
    """Messages of one contract version for a test of a consumer; the same rows in every version of the contract.

    `kind` is `stream`, `edges` (rows of edge values), or the class of drift that every tenth message shows.
    """

    sender: MessageSender
    kind: str = STREAM
    n: int = 50
    seed: int = 1

    @property
    def reference(self) -> str:
        """The version, such as `dts/canal@2`."""
        return self.sender.version.reference

    def __repr__(self) -> str:
        messages = "edge rows" if self.kind == EDGES else f"{self.n} messages, seed {self.seed}"
        drift = "" if self.kind in (STREAM, EDGES) else f", drift {self.kind}"
        return f"<{self.describe()}; {messages}{drift}>"

    def describe(self) -> str:
        """Return what the version is: `dts/canal@1: instances created or restarted before 2022-03-20 (UTC+08:00)`."""
        applied = describe_application(self.sender.version)
        return f"{self.reference}: {applied or self.sender.version.resolved.get('title', 'every version')}"

    @property
    def version(self) -> int:
        """Its number."""
        return self.sender.version.number

    @cached_property
    def messages(self) -> list[bytes]:
        """The values of the messages, in order. Raises UsageError if the version cannot express them."""
        if self.kind == EDGES:
            return self.sender.edges()
        return self.sender.stream(self.n, seed=self.seed, drift=None if self.kind == STREAM else self.kind)

    @cached_property
    def decoded(self) -> list[DecodedMessage]:
        """The result of decoding each message: its changes as Python values, or why it does not conform."""
        return [self.sender.receiver.decode(message) for message in self.messages]

    @property
    def changes(self) -> list[Change]:
        """The row changes of all messages that conform."""
        return [change for one in self.decoded for change in one.changes if isinstance(change, Change)]

    @property
    def drifting(self) -> list[int]:
        """The numbers of the messages that do not conform, from 0."""
        return [number for number, one in enumerate(self.decoded) if not one.ok]

    @property
    def rows(self) -> list[dict[str, Value]]:
        """The rows of the table after all changes, in the order of their insertion."""
        rows: dict[tuple[Value, ...], dict[str, Value]] = {}
        for change in self.changes:
            names = change.primary_key or self.sender.source.primary_key
            before, after = (
                None if image is None else tuple(image.get(name) for name in names)
                for image in (change.before, change.after)
            )
            if before is not None and before != after:
                rows.pop(before, None)
            if after is not None and change.after is not None:
                rows[after] = {**rows.get(after, {}), **change.after}
        return list(rows.values())
