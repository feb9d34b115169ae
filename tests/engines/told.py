"""A connection that answers what was recorded, and remembers what it was asked."""


class Told:
    def __init__(self, answers):
        self.answers, self.asked = answers, list[str]()

    def query(self, sql):
        """By the first words that fit."""
        self.asked.append(" ".join(sql.split()))
        return next((rows for words, rows in self.answers.items() if words in sql), [])

    def close(self):
        pass
