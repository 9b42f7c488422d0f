from cdc_contracts.registry.core.common.drift_class import DriftCause, DriftClass
from cdc_contracts.registry.core.common.findings import INFO

CLASS = DriftClass(
    id="D17", name="profile-change", severity=INFO,
    says="The profile of the messages differs from that of the baseline report (--against).",
    action="Ask whoever runs the source whether the change is meant. If it is, write a new baseline report.",
    good="a column that is NULL in 3 % of the rows, as in the baseline", bad="one that is NULL in 40 %",
    causes=(
        DriftCause("table", "A table that the baseline report has is not sent any more, or one that it lacks is."),
        DriftCause("version", "Rows of the table are of another version of the contract than in the baseline report."),
        DriftCause("table-share", "The share of the rows that belong to the table has changed."),
        DriftCause("ops", "The shares of the ops of the table have changed."),
        DriftCause("column", "A column that the baseline report has is not sent any more, or one that it lacks is."),
        DriftCause("absent-share", "The share of rows that lack the column has changed."),
        DriftCause("null-share", "The share of NULLs in the column has changed."),
        DriftCause("empty-share", "The share of empty texts in the column has changed."),
        DriftCause("replaced", "More values of the column contain U+FFFD: characters were lost before the message."),
        DriftCause("length", "Values of the column are longer or shorter than in the baseline report."),
        DriftCause("lag", "More messages come late than in the baseline report."),
    ),
)  # fmt: skip
