"""A name that environments of before `make setup` still ask for, and nothing else."""
