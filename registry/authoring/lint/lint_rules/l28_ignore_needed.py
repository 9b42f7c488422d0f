"""Lint rule L28: ignore-needed. Whether a comment ignores nothing is known only after suppression."""

from cdc_contracts.registry.authoring.lint.lint_rule import LintRule
from cdc_contracts.registry.core.common.findings import WARNING

RULE = LintRule(
    id="L28",
    name="ignore-needed",
    severity=WARNING,
    says="Checks that every ignore comment suppresses a finding.",
    why="A fixed finding needs no comment, and a leftover comment hides the next finding of its kind.",
    good="ignore L21, where an op has no sample",
    bad="ignore L21, where every op has one",
    check=None,
    ignorable=False,
)
