#!/usr/bin/env python3
"""The `tg-opt` console script as a file."""

import sys

from tgdialect.tools.tg_opt import main

sys.exit(main())
