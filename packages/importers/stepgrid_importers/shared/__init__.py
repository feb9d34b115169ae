"""Readers of files that several kinds of published results have; no importer by itself."""
