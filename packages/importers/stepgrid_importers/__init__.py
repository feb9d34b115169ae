"""Importers of what published scripts measured."""
