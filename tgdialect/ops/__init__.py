"""The ops of the `tg` dialect, one file per family of the specification."""
