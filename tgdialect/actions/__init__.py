"""Finding the step of a compiler that is wrong, by running what it makes.

* `compare.py`: the first value in which two runs differ;
* `execution.py`: the meaning of a module, on the interpreters;
* `predicate.py`: whether a module still shows a failure: by a command, or by its meaning;
* `reduce/`: the smallest module that does.
"""
