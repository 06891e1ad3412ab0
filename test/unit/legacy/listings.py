"""Listings that are right: those of the FileCheck tests, and what is printed of a module."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import SourceFile, verify_module
from tgdialect.legacy.listing.reader import parse_listings
from tgdialect.legacy.listing.titled import UopsTarget
from tgdialect.registry import make_context

FILES = sorted((Path(__file__).parents[2] / "filecheck" / "legacy" / "listing").glob("*.uops"))


def printed(module: ModuleOp) -> str:
    """The listings of a module."""
    text = StringIO()
    UopsTarget().emit(make_context(), module, text)
    return text.getvalue()


def parsed(text: str) -> ModuleOp:
    """The verified module of listings."""
    module = parse_listings(make_context(), SourceFile("listings.uops", text))
    verify_module(module)
    return module
