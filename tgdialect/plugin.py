"""The plug-in: all that a package adds to xDSL's tools, to ours and to the compiler.

A package, of anybody's, has a `Plugin` as an entry point of the group `xdsl.universe`, in which
xDSL looks for a `Universe`. Those of this package are listed in `universe.py`. Each thing stands
behind a factory, which imports it when it is called. docs/extending.md has an example of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.target import Target

if TYPE_CHECKING:
    from xdsl.utils.frontend import Frontend

LANGUAGE_TARGET = "tgdialect.backends.sources:language_target"
"""Makes the output format of a C-like language, by its name."""


class Plugin(Universe):
    """xDSL's `Universe`, with what it has no word for.

    `all_frontends` are the input formats, by the extension of their files.
    `all_languages` are C-like languages, by name: each a `Language` of
    `lowering/render/source/language.py`, an `output` of `tg-render` and `tg-to-source`, and an
    output format (`-t`).
    `all_upgrades` are the passes that rewrite the ops of a dialect into ops of `tg`, by the name of
    the dialect. `compile` and `tg-run` run them.
    """

    all_languages: dict[str, Callable[[], Any]]
    all_upgrades: dict[str, str]

    def __init__(
        self,
        *,
        all_dialects: Mapping[str, Callable[[], Dialect]] = {},
        all_passes: Mapping[str, Callable[[], type[ModulePass]]] = {},
        all_targets: Mapping[str, Callable[[], type[Target]]] = {},
        all_frontends: Mapping[str, Callable[[], type[Frontend]]] = {},
        all_languages: Mapping[str, Callable[[], Any]] = {},
        all_upgrades: Mapping[str, str] = {},
    ) -> None:
        of_languages = {name: partial(_language_target, name) for name in all_languages}
        super().__init__(
            all_dialects=dict(all_dialects),
            all_passes=dict(all_passes),
            all_targets={**of_languages, **all_targets},
            all_frontends=dict(all_frontends),
        )
        self.all_languages = dict(all_languages)
        self.all_upgrades = dict(all_upgrades)


FIELDS = (
    *("all_dialects", "all_passes", "all_targets"),
    *("all_frontends", "all_languages", "all_upgrades"),
)
"""The tables of a `Plugin`. A `Universe` has the first ones."""


def merged(universes: Mapping[str, Universe]) -> Plugin:
    """One plug-in of all. Raises ValueError if a name is in two of them, which are named, or if an
    upgrade is no pass."""
    tables: dict[str, dict[str, Any]] = {}
    for field in FIELDS:
        owners: dict[str, str] = {}
        table = tables[field] = {}
        for owner, universe in universes.items():
            for name, value in getattr(universe, field, {}).items():
                if name in table and table[name] is not value:
                    kind = field.removeprefix("all_").removesuffix("s").replace("_", " ")
                    raise ValueError(f"both {owners[name]} and {owner} have a {kind} {name!r}")
                owners[name], table[name] = owner, value
    for dialect, upgrade in tables["all_upgrades"].items():
        if upgrade not in tables["all_passes"]:
            raise ValueError(f"the upgrade of {dialect} is no pass: {upgrade}")
    return Plugin(**tables)


def named(path: str) -> Any:
    """The object that `module:name` names."""
    module, name = path.split(":")
    return getattr(import_module(module), name)


def factories(paths: Mapping[str, str]) -> dict[str, Callable[[], Any]]:
    """Factories that import `module:name` when they are called."""
    return {name: partial(named, path) for name, path in paths.items()}


@cache
def _language_target(language: str) -> type[Target]:
    return named(LANGUAGE_TARGET)(language)
