"""Avro schemas compared by the specification's rules of schema resolution."""

from cdc_contracts.registry.compatibility.avro.comparison import compare_avro as compare_avro
from cdc_contracts.registry.compatibility.avro.rules import AVRO_RULES as AVRO_RULES
