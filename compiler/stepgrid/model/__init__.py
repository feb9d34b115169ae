"""Values that all packages share, and how they are written; they import nothing, and read or start nothing."""
