"""Forms of published tables: blocks of figures to tables; they compute nothing that a report does not have."""
