r"""``python -m shuffle_sym`` is the command line."""

import sys

from shuffle_sym.apps.cli import main

if __name__ == "__main__":
    sys.exit(main())
