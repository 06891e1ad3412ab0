"""The bound of compile time that analyses share."""

from __future__ import annotations

MANY = 64
"""The most values, ops, parts or iterations that are looked at for one decision, so that compile
time is linear in the size of a program. Larger: longer compilation, as programs of long chains are
walked again for each op; smaller: less is found. An order of magnitude: an attention with all masks
has some 30 ops, the gradient of a maximum 5, and a loop over registers at most some tens."""
