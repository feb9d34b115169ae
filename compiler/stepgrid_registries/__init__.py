"""Sources that registries of languages and Debian have, asked by their own clients alone, and those of this machine."""
