"""Plans: stages with content ids, their order and their file; nothing here starts a process, or finds results."""
