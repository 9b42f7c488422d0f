"""A trail tells from which record on every message has a finding."""

from cdc_contracts.registry.core.stats.finding_onsets import ANY_OP, FindingSeries, Start, unbroken_series

INSERTS = FindingSeries(count=5, last=50, clean=20, starts=[Start(22, None, 4)])


def test_a_series_is_given_by_the_ops_that_show_the_finding():
    overall = FindingSeries(count=5, last=50, clean=40, starts=[Start(41, None, 1)])
    assert unbroken_series({"insert": INSERTS, ANY_OP: overall}, {"insert": 50, ANY_OP: 60}) == Start(22, None, 4)
    assert unbroken_series({"insert": INSERTS}, {}) == Start(22, None, 4)


def test_where_an_op_is_not_known_every_message_counts():
    overall = FindingSeries(count=6, last=50, clean=40, starts=[Start(41, None, 1)])
    assert unbroken_series({"insert": INSERTS, ANY_OP: overall}, {"insert": 50, ANY_OP: 50}) == Start(41, None, 1)


def test_a_message_without_it_behind_the_last_one_with_it_leaves_no_series():
    assert unbroken_series({"insert": INSERTS}, {"insert": 51}) is None


def test_parts_that_come_late_leave_only_what_is_behind_their_last_message_without_it():
    late = FindingSeries(count=1, last=31, clean=30, starts=[Start(31, None, 1)])
    whole = FindingSeries(count=5, last=50, clean=20, starts=[Start(22, None, 2), Start(45, 7, 2)])
    whole.add(late)
    assert (whole.count, whole.last, whole.clean) == (6, 50, 30)
    assert whole.starts == [Start(31, None, 1), Start(45, 7, 2)]
    whole.join_starts([(0, 39), (41, 50)], most=32)
    assert whole.starts == [Start(31, None, 1), Start(45, 7, 2)]
    whole.join_starts([(0, 39), (41, 50)], most=1)
    assert whole.starts == [Start(31, None, 3)]
    whole.starts = [Start(31, None, 1), Start(45, 7, 2)]
    whole.join_starts([(0, 50)], most=32)
    assert whole.starts == [Start(31, None, 3)]
