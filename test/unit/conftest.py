"""Pytest puts the folder of a conftest on the path: all unit tests can import from here."""

import os

os.environ["TG_CACHE_DIR"] = ""  # Tests compile what they say; those of the cache have one.
