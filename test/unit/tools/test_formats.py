"""The input formats: by extension, and named."""

from tgdialect import registry
from tgdialect.tools.tg_run import FORMATS


def test_tg_run_has_all_formats():
    assert set(FORMATS) == set(registry.FRONTENDS)


def test_a_named_format_wins():
    assert registry.frontend_of("a.uops") is registry.FRONTENDS["uops"]
    assert registry.frontend_of("a.txt") is registry.FRONTENDS["mlir"]
    assert registry.frontend_of("a.txt", "uops") is registry.FRONTENDS["uops"]
    assert registry.frontend_of("a.uops", "mlir") is registry.FRONTENDS["mlir"]
