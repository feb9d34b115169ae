"""stepgrid: a declarative compiler for database-engine benchmarks, steps x grid."""

__version__ = "0.1.0"
