"""Kinds of steps, one package each: command, settings, figures; they start nothing and know no engine's code."""
