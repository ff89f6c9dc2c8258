r"""Long checks of the package against exact values; no part of the package."""
