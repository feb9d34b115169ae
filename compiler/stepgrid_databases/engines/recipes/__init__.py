"""Recipes that make the programs of engines, imported by builds alone; planning never needs them."""
