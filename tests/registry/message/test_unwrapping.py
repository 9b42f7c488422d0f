"""Messages that another tool wrapped are validated as those they hold; what is not wrapped so is malformed."""

import base64
import json

import pyarrow as pa
import pytest
from topics import rendered, scope_of

from cdc_contracts.cli.options.run_options import Wrapping
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.unwrapping import WRAPPINGS, unwrap

MESSAGE = b'{"a": 1.00, "b": "\xe4\xb8\xad"}'


@pytest.mark.parametrize(
    ("value", "wrapping", "message"),
    [
        (b"eyJhIjoxfQ==", "base64", b'{"a":1}'),
        (b"eyJhIjoxfQ", "base64", b'{"a":1}'),
        (b' "eyJhIjoxfQ=="\n', "base64", b'{"a":1}'),
        (b'"eyJhIjoxfQ\\u003d="', "base64", b'{"a":1}'),
        (b"eyJh\r\nIjoxfQ==\r\n", "base64", b'{"a":1}'),
        (base64.urlsafe_b64encode(b"\xfb\xff\xfe>>>???"), "base64", b"\xfb\xff\xfe>>>???"),
        (b"", "base64", b""),
        (b'{"schema":{"type":"string"},"payload":' + MESSAGE + b"}", "connect-json", MESSAGE),
        (b'{"payload":' + MESSAGE + b',"schema":null}', "connect-json", MESSAGE),
        (json.dumps({"schema": None, "payload": MESSAGE.decode()}).encode(), "connect-json", MESSAGE),
        (b'{"schema":null,"payload":null}', "connect-json", None),
        (
            b'{"payload":{"n":123456789012345678901234567890.10}}',
            "connect-json",
            b'{"n":123456789012345678901234567890.10}',
        ),
        (None, "base64", None),
        (None, "connect-json", None),
    ],
)
def test_the_message_comes_out_byte_for_byte(value, wrapping, message):
    assert unwrap(value, wrapping) == message


@pytest.mark.parametrize(
    ("value", "wrapping"),
    [
        (MESSAGE, "base64"), (b"eyJhIjoxf", "base64"), (b'"eyJh', "base64"), (b'"\xff"', "base64"), (b"\xff", "base64"),
        (MESSAGE, "connect-json"), (b"", "connect-json"), (b"[]", "connect-json"), (b'{"payload":{}', "connect-json"),
        (b"eyJhIjoxfQ==", "connect-json"), (b'{"payload":"\xff"}', "connect-json"),
    ],
)  # fmt: skip
def test_what_is_not_wrapped_like_this_is_reported_with_its_own_cause(value, wrapping):
    with pytest.raises(Unreadable) as failure:
        unwrap(value, wrapping)
    assert failure.value.cause == wrapping


def test_the_command_line_offers_every_wrapping():
    assert [one.value for one in Wrapping] == list(WRAPPINGS)


def wrap(value, wrapping):
    if wrapping == "base64":
        return base64.b64encode(value)
    return b'{"schema":{"type":"struct"},"payload":' + value + b"}"


@pytest.mark.parametrize(
    ("reference", "wrapping"), [("dts/canal@2", "base64"), ("dts/canal@2", "connect-json"), ("dts/avro@1", "base64")]
)
def test_wrapped_messages_are_counted_as_those_they_hold(reference, wrapping):
    plain = [*rendered(reference, 100), b"x", None]
    wrapped = [*(wrap(value, wrapping) for value in plain[:101]), None, b"{not wrapped", b"?"]
    tallies = []
    for values, given in ((plain, None), (wrapped, wrapping)):
        columns = {
            "value": pa.array(values, pa.binary()), "topic": ["t"] * len(values), "partition": [0] * len(values),
            "offset": list(range(len(values))),
        }  # fmt: skip
        tallies.append(Kernel(scope_of(reference, wrapping=given)).audit(pa.RecordBatch.from_pydict(columns)))
    before, after = ({key.rule: found.count for key, found in tally.findings.items()} for tally in tallies)
    assert after.pop(f"D01.{wrapping}") == 2 + (wrapping == "connect-json")
    if wrapping == "base64":
        assert after == before
    (counts,) = tallies[1].partitions.values()
    assert (counts.read, counts.conforming, counts.tombstone, counts.quarantined) == (104, 100, 1, 3)
