"""Tools that look at passes from outside: counting what they do, and finding what broke a program.

* `listening.py`: a listener for the actions of our passes (`tgdialect/diagnostics/actions.py`) and
  of any that use xDSL's `PatternRewriter`.
"""
