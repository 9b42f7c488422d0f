"""Passwords are slow to guess, cheap to ask again, and never take the server with them."""

import threading
import time

import patient
import pytest
from stopwatch import measure

from cdc_contracts.registry.server.access import passwords
from cdc_contracts.registry.server.access.passwords import Busy, PasswordCheck, check_hash, hash_password, hash_token

KNOWN = "scrypt$16$8$1$c2FsdHNhbHRzYWx0c2FsdA==$rkTI9fAgA7thDzzR8FHXhMiojYBreJBmYTkEzWypBCQ="
"""Of `correct horse`, worked out by another program: openssl kdf … SCRYPT."""


def test_a_hash_made_elsewhere_is_understood():
    check = PasswordCheck()
    assert check.verify("correct horse", KNOWN)
    assert not check.verify("correct horsf", KNOWN)


def test_the_same_password_has_another_hash_each_time():
    first, second = hash_password("x", cost=16), hash_password("x", cost=16)
    assert first != second
    assert PasswordCheck().verify("x", first)
    assert PasswordCheck().verify("x", second)


def test_what_was_worked_out_once_is_not_worked_out_again():
    check, stored = PasswordCheck(), hash_password("x")
    right, worked_out = measure(lambda: check.verify("x", stored))
    assert right
    right, recalled = measure(lambda: all(check.verify("x", stored) for _ in range(100)))
    assert right
    assert recalled < worked_out
    assert check.recall("x", stored) is True
    assert check.recall("y", stored) is None


def test_who_guesses_much_is_sent_away_and_who_is_known_is_not(monkeypatch):
    """Twenty guesses at once: two are worked out, sixteen wait, the rest are told to come again."""
    check, gate, tried = PasswordCheck(), threading.Event(), []
    check.verify("known", KNOWN)
    monkeypatch.setattr(passwords, "_derive", lambda password, how: gate.wait() and b"")

    def guess(number):
        try:
            tried.append(check.verify(f"guess {number}", KNOWN))
        except Busy:
            tried.append("busy")

    threads = [threading.Thread(target=guess, args=[number]) for number in range(20)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + patient.SECONDS
    while tried != ["busy", "busy"] and time.monotonic() < until:
        time.sleep(0.01)
    assert tried == ["busy", "busy"]
    assert check.recall("known", KNOWN) is False
    gate.set()
    for thread in threads:
        thread.join()
    assert sorted(map(str, tried)) == ["False"] * 18 + ["busy"] * 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "secret",
        "scrypt$16$8$1$c2FsdA==",
        "bcrypt$16$8$1$c2FsdA==$c2FsdA==",
        "scrypt$0$8$1$c2FsdA==$" + "A" * 43 + "=",
        "scrypt$17$8$1$c2FsdA==$" + "A" * 43 + "=",
        "scrypt$1073741824$8$1$c2FsdA==$" + "A" * 43 + "=",
        "scrypt$16$8$1$not base64$" + "A" * 43 + "=",
        "scrypt$16$8$1$c2FsdA==$c2FsdA==",
    ],
    ids=["empty", "plain", "short", "other", "no-cost", "odd-cost", "huge", "no-base64", "short-hash"],
)
def test_what_is_no_hash_is_refused(text):
    with pytest.raises(ValueError, match=r"hash|form"):
        check_hash(text)


def test_a_token_is_kept_as_its_sha_256():
    assert hash_token("abc") == "sha256$ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
