"""Who may do what with which subject, and what a users file says of that."""

import pytest

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.server.access.rights import UNGUARDED, Caller, Grant, Right
from cdc_contracts.registry.server.access.users import Users
from cdc_contracts.registry.server.store.subjects import WHOLE_REGISTRY, parse_subject


@pytest.mark.parametrize(
    ("pattern", "subject", "fits"),
    [
        ("*", "orders", True),
        ("*", ":.team:orders", False),
        ("*", ":.:orders", True),
        (":.team:*", ":.team:orders", True),
        (":.team:*", "orders", False),
        (":.team:*", ":.team2:orders", False),
        (":.team*:*", ":.team2:orders", True),
        (":*:*", ":.team:orders", True),
        (":*:*", "orders", True),
        (":*:orders", ":.team:orders", True),
        (":*:orders", ":.team:others", False),
        ("orders-*", "orders-value", True),
        ("orders-*", "ORDERS-value", False),
        ("orders-*", "my-orders-value", False),
        ("orders-?", "orders-1", True),
        ("orders-?", "orders-12", False),
        ("orders.value", "orders-value", False),
        ("[a-z]*", "orders", False),
        ("[a-z]*", "[a-z]orders", True),
        ("a/b*", "a/b/c", True),
        ("*", "two\nlines", True),
        ("x", ":.team", False),
        ("*", ":.team", False),
        (":.team:*", ":.team", True),
    ],
)
def test_a_pattern_fits_the_subjects_that_it_says(pattern, subject, fits):
    caller = Caller("a", [Grant(frozenset({Right.READ}), (pattern,))])
    assert caller.may(Right.READ, parse_subject(subject)) is fits


@pytest.mark.parametrize(
    ("given", "may"),
    [
        ("read", {"read"}),
        ("write", {"read", "write"}),
        ("delete", {"read", "delete"}),
        ("admin", {"read", "write", "delete", "admin"}),
    ],
)
def test_who_may_change_a_subject_may_read_it(given, may):
    caller = Caller("a", [Grant(frozenset({Right(given)}), ("s",))])
    assert {right.value for right in Right if caller.may(right, parse_subject("s"))} == may


def test_only_who_has_everything_may_set_what_holds_for_the_whole_registry():
    some = Caller("a", [Grant(frozenset({Right.ADMIN}), ("*", ":.team:*"))])
    assert not some.may(Right.ADMIN, WHOLE_REGISTRY)
    assert some.may(Right.ADMIN, parse_subject(":.team:"))
    assert Caller("a", [Grant(frozenset({Right.ADMIN}), (":*:*",))]).may(Right.ADMIN, WHOLE_REGISTRY)
    assert UNGUARDED.may(Right.ADMIN, WHOLE_REGISTRY)


def test_many_stars_cost_nothing():
    caller = Caller("a", [Grant(frozenset({Right.READ}), ("*" * 5_000 + "b",))])
    assert not caller.may(Right.READ, parse_subject("a" * 500))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("users: {a: {rights: []}}", "users.a: neither password nor token"),
        ("users: {a: {password: secret, rights: []}}", "users.a.password: not of the form"),
        ("users: {a: {token: abc, rights: []}}", "users.a.token: not of the form sha256$HEX"),
        ("users: {a: {token: abc}}", "users.a.rights: is missing"),
        ("users: {'a:b': {}}", "users.a:b: String should match pattern"),
        ("users: {a: {token: abc, rights: [], tokn: hush}}", "users.a.tokn: unknown key; do you mean `token`?"),
        ("usres: {}", "usres: unknown key; do you mean `users`?"),
        ("users: {}\nanonymous: {rights: [{may: [rule], subjects: ['*']}]}", "anonymous.rights.0.may.0: Input should be"),
        ("users: {}\nanonymous: {rights: [{may: [read], subjects: [':team']}]}", "the pattern of a context is written"),
        ("users: {}\nanonymous: {rights: [{may: [], subjects: ['*']}]}", "anonymous.rights.0.may: Tuple should have"),
        ("users: {a: 1, a: 2}", "key `a` occurs twice"),
        ("- 1", "the users file: not a YAML mapping"),
        ("", "the users file: users: is missing"),
        ("orders-team: {rights: []}", "put them below `users:`"),
        (None, "cannot be read"),
    ],
    ids=lambda value: None,
)  # fmt: skip
def test_a_users_file_that_is_wrong_is_refused_with_the_place(tmp_path, text, says):
    path = tmp_path / "users.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError) as refused:
        Users(path)
    assert says in str(refused.value)
    assert "cdc-contracts registry user NAME" in str(refused.value)


def test_the_error_of_a_users_file_shows_no_secret(tmp_path):
    path = tmp_path / "users.yaml"
    path.write_text("users: {a: {password: hunter2-in-the-clear, rights: []}}")
    with pytest.raises(UsageError) as refused:
        Users(path)
    assert "hunter2" not in str(refused.value)
