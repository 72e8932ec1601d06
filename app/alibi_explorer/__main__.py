"""``python -m alibi_explorer``: the same as the command ``alibi-explorer``."""

import sys

from alibi_explorer.cli import main

sys.exit(main())
