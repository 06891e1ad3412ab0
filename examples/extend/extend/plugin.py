"""The plug-in, which the entry point in `pyproject.toml` names."""

from tgdialect.plugin import Plugin, factories

PLUGIN = Plugin(
    all_dialects=factories({"ext": "extend.hypot:EXT"}),
    all_passes=factories(
        {
            "ext-to-tg": "extend.to_tg:ExtToTgPass",
            "ext-raise-hypot": "extend.raise_hypot:RaiseHypotPass",
        }
    ),
    all_upgrades={"ext": "ext-to-tg"},
    all_languages=factories({"cpp": "extend.cpp:CPP"}),
    all_frontends=factories({"rpn": "extend.rpn:RpnFrontend"}),
)
