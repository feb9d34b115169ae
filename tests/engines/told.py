"""A connection that answers what was recorded, and remembers what it was asked."""

from collections.abc import Mapping
from typing import Any


class Told:
    def __init__(self, answers: Mapping[str, list[Mapping[str, Any]]]) -> None:
        self.answers, self.asked = answers, list[str]()

    def query(self, sql: str) -> list[Mapping[str, Any]]:
        """By the first words that fit."""
        self.asked.append(" ".join(sql.split()))
        return next((rows for words, rows in self.answers.items() if words in sql), [])

    def close(self) -> None:
        pass
