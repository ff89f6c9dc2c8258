r"""Accountants: arrays of doubles in, certified intervals out. No SymPy object reaches this room."""
