"""`python -m tgdialect.info` prints what is installed and what the machine is (`tools/info.py`)."""

import sys

from tgdialect.tools.info import information, main

__all__ = ["information", "main"]

if __name__ == "__main__":
    sys.exit(main())
