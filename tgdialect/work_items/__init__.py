"""Analyses of the work items of a grid: their accesses, races, and the BARRIERs that order them.

* `accesses.py`: the cells that each work item accesses, and whether two may meet;
* `meetings.py`: the arithmetic of that;
* `barriers.py`: conflicting accesses of different work items, and the BARRIERs that they need;
* `async_copies.py`: copies to LOCAL memory that may be asynchronous, and where they are waited for;
* `coverage.py`: which LOCAL buffers may be read where nothing was stored;
* `uniform.py`: which neighbouring work items have the same value.
"""
