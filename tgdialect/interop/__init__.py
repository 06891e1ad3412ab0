"""Importers: programs of other vocabularies as programs of `tg`. Each is a plug-in of its own,
which nothing imports, and needs its extra: `pip install 'tgdialect[onnx]'`, `[torch]`.

* `importing.py`: what importers share: names, sizes, constants, and a traced program as a module;
* `onnx/`: ONNX models, files and objects;
* `torch/`: PyTorch: a backend of `torch.compile`, and `.pt2` files of `torch.export`.
"""
