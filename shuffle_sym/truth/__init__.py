r"""Exact values: of decompositions, of real datasets by brute force, of two messages, of all neighbours."""
