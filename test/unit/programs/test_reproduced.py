"""A random test that fails says so by the file of a reduced program, which shows the failure when
the command in it is run."""

from __future__ import annotations

from programs_with import first_with  # noqa
