"""A random test that fails says so by the file of a reduced program, which shows the failure when
the command in it is run."""

from __future__ import annotations

import shlex
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import test_random_kernels
import test_random_mixtures
import test_random_programs
import test_random_stops
from programs_with import first_with  # noqa
