"""`python -m crowdclust_app` is `crowdclust`."""

from __future__ import annotations

import sys

from crowdclust_app.cli import main

if __name__ == "__main__":
    sys.exit(main())
