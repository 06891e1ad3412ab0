"""A plug-in of tgdialect: an op, a pass, an output language and an input format."""
