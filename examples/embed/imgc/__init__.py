"""A compiler of image filters: a dialect of its own, lowered to `tg` and compiled by tgdialect."""
