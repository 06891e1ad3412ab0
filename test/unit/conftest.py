"""Pytest puts the folder of a conftest on the path: all unit tests can import from here."""
