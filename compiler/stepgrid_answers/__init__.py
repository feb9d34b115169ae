"""Claims, causes, changes of level and implausible figures, as a report asks for them; it never measures or writes."""
