"""Features of `tg.target`, in the order in which they are written."""

from xdsl.dialects.builtin import ModuleOp

from tgdialect.targets.attribute import Stated, TargetAttr, target_of
from tgdialect.targets.cpu import cpu


def test_a_feature_is_removed_where_it_stands_in_the_list():
    stated = TargetAttr(Stated("cpu", (("features", ("avx2", "-avx", "f16c")),)))
    module = ModuleOp([], {"tg.target": stated})
    assert target_of(module) == cpu(["f16c"])
    assert target_of(module, features=["avx512bw", "-avx512f"]) == cpu(["avx2", "f16c", "fma"])
    assert target_of(module, features=["-avx512f", "avx512bw"]) == cpu(["avx512bw"])


def test_armv8_has_a_multiply_accumulate_and_converts_f16():
    assert "mulacc" in cpu(["neon"]).native
    assert cpu(["neon"]).converted == cpu(["fp-armv8"]).converted == {"f16"}
