"""`img-opt`: parse, verify, transform and print IR, as `xdsl-opt` and `tg-opt` do."""

import sys

from imgc.universe import IMG_UNIVERSE, register_dialects
from tgdialect.tools.tg_opt import TgOptMain


class ImgOptMain(TgOptMain):
    """xDSL's driver with errors that say where, and with what this package has."""

    program = "img-opt"

    def register_all_dialects(self) -> None:
        super().register_all_dialects()
        register_dialects(self.ctx)

    def register_all_passes(self) -> None:
        super().register_all_passes()
        self.available_passes |= IMG_UNIVERSE.all_passes


main = ImgOptMain.main

if __name__ == "__main__":
    sys.exit(main())
