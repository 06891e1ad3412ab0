"""The plug-in: the dialect, its upgrade, and listings as an input and an output format."""

from tgdialect.plugin import Plugin, factories

PLUGIN = Plugin(
    all_dialects=factories({"tg_legacy": "tgdialect.legacy.dialect:TG_LEGACY"}),
    all_passes=factories({"tg-upgrade-legacy": "tgdialect.legacy.upgrade.stage:UpgradeLegacyPass"}),
    all_targets=factories({"uops": "tgdialect.legacy.listing.titled:UopsTarget"}),
    all_frontends=factories({"uops": "tgdialect.legacy.listing.reader:UopsFrontend"}),
    all_upgrades={"tg_legacy": "tg-upgrade-legacy"},
)
