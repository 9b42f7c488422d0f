"""Git repositories of contracts, made for a test."""

from __future__ import annotations

import subprocess


def git(folder, *arguments):
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *settings, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder, message):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def edit(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text, f"{old!r} is not in {file}"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def line_of(file, text):
    """The one line of a file that holds a text, counted from 1."""
    (number,) = [number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line]
    return number
