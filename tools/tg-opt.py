#!/usr/bin/env python3
"""The `tg-opt` console script as a file: that of this clone, also where it is not installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tgdialect.tools.tg_opt import main

sys.exit(main())
