"""SQLite for stepgrid: `engine` is the library by its own command, `driver` runs SQL with it."""
