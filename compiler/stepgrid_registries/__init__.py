"""Sources that registries of languages have, asked by their own clients alone; the core finds them by entry points."""
