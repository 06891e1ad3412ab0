"""How long a training step takes on many devices: a model, checked here, then asked about 4096.

    pip install -e '.[bench,mpi]'
    python bench/scaling.py --check            # predicted and measured steps on 2 and 4 ranks
    python bench/scaling.py                    # predicted steps on 8 to 4096 devices
    python bench/scaling.py --plot scaling.svg

The step is forward, backward and Adam of an MLP or a GPT, as one program. `tg-shard` splits it in
four ways: `data`, `zero` and `tensor` as in `examples/train_sharded.py`, by annotations, and
`chosen`, without any: what it finds cheapest. `bench/timeline.py` then predicts the
step from the work of each part, and from the bytes of each collective.

`--check` measures what the model needs to know of the machine, with as many processes at work as
the step has: a product for the flops, a copy for the memory, a step on one device for the share of
both that such a program reaches, and two sizes of all_reduce for the link. docs/scaling.md explains
the figures.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from timeline import DeviceModel, timeline
from tqdm import tqdm
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import PassFailedException

import tgdialect as tg
from tgdialect import nn
from tgdialect.analysis.communication import Collective, Link
from tgdialect.analysis.estimates import estimate_tensors
from tgdialect.ops.attributes import PlaceAttr
from tgdialect.ops.properties import tensor
from tgdialect.ops.source import parameters
from tgdialect.runtime.distributed.exchange import Exchange
from tgdialect.runtime.distributed.executable import sharded_stages
from tgdialect.runtime.distributed.mpi import mpi_communicator
from tgdialect.runtime.distributed.program import ShardedProgram, program_of
from tgdialect.transforms.shard.propagate import SHARDING, ShardPass, splittable

sys.path.append(str(Path(__file__).parents[1] / "examples"))
from gpt import GPT, Sizes
from train_sharded import Language, Regression

SPLITS = ("data", "zero", "tensor", "chosen")
DEVICES = tuple(2**i for i in range(3, 13))


class Mlp(Regression):
    """The MLP of the example, with more units."""

    INPUTS, HIDDEN, BATCH = 1024, 2048, 256


class Text(Language):
    """The GPT of the example, of other sizes."""

    def __init__(self, sizes: Sizes, batch: int) -> None:
        self.SIZES, self.BATCH = sizes, batch
        self.gpt = GPT(nn, sizes)


SMALL = Sizes(vocabulary=1024, context=64, width=256, heads=8, layers=2)


@dataclass(frozen=True)
class Step:
    """A training step as a program: a batch and the state before, to the loss and the state after.

    Attributes:
        module: the program, on one device.
        names: of the inputs after the batch; "" for what is no weight and belongs to none.
        values: of these inputs.
        changed: for each result after the loss, the input of which it is the new value.
        batch: makes the two inputs of a batch.
        axes: the axes of weights that tensor parallelism splits.
    """

    module: ModuleOp
    names: Sequence[str]
    values: Sequence[tg.Tensor]
    changed: Sequence[int]
    batch: Callable[[np.random.Generator], tuple[tg.Tensor, tg.Tensor]]
    axes: Mapping[str, int]

    @staticmethod
    def of(model: Mlp | Text) -> Step:
        """Trace a step."""
        weights = nn.state.get_state_dict(model)
        for weight in weights.values():
            weight.requires_grad_()
        optimizer = nn.optim.Adam(list(weights.values()), lr=model.RATE)

        @tg.function
        def step(x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
            optimizer.zero_grad()
            loss = model.loss(x, y)
            loss.backward()
            optimizer.schedule_step()
            return loss

        x, y = model.batch(np.random.default_rng(0))
        with tg.Tensor.train():
            lowered = step.lower(tg.spec(x.shape, x.dtype), tg.spec(y.shape, y.dtype))
        traced = lowered._interface.traced
        owner = {id(w): name for name, w in weights.items()}
        states = zip(optimizer.params, optimizer.m, optimizer.v, strict=True)
        for weight, m, v in states:
            name = owner[id(weight)]
            owner |= {id(m): f"m of {name}", id(v): f"v of {name}"}
        captured = [id(t) for t in traced.implicit]
        return Step(
            lowered._source,
            [owner.get(i, "") for i in captured],
            traced.implicit,
            [2 + captured.index(id(t)) for t in traced.changed],
            model.batch,
            model.split_axes(),
        )

    @property
    def weights(self) -> int:
        """How many numbers the model learns."""
        return sum(t.numel() for t, n in zip(self.values, self.names, strict=True) if is_weight(n))

    def arrays(self) -> list[Any]:
        """The batch, and a copy of the state before, whose memory a step reuses (`tg.donated`)."""
        x, y = self.batch(np.random.default_rng(0))
        return [t.numpy().copy() for t in (x, y, *self.values)]

    def annotated(self, split: str, devices: tuple[str, ...]) -> ModuleOp:
        """The program with the annotations of a split: `tg-shard` does the rest."""
        module = self.module.clone()
        function = module.body.block.first_op
        assert isinstance(function, FuncOp)
        if split != "chosen":
            names = "batch", "batch", *self.names
            for parameter, name in zip(parameters(function.body.block), names, strict=True):
                axis = self._axis(split, name, tensor(parameter.result), len(devices))
                parameter.attributes[SHARDING] = PlaceAttr.of(devices, None, axis)
        attributes: list[dict[str, Attribute]] = [{}]
        attributes += [{SHARDING: IntegerAttr(number, 64)} for number in self.changed]
        function.properties["res_attrs"] = ArrayAttr(map(DictionaryAttr, attributes))
        return module

    def _axis(self, split: str, name: str, type: TensorType[Attribute], parts: int) -> int | None:
        """The axis of an input that a split divides: the first possible one of Adam's state."""
        if split == "tensor":
            return self.axes.get(name.rpartition(" ")[2])
        if name == "batch":
            return 0
        possible = splittable(type, parts) if split == "zero" and not is_weight(name) else ()
        return next(iter(possible), None)


def is_weight(name: str) -> bool:
    """Whether an input is a weight, not the state of the optimizer."""
    return bool(name) and " of " not in name


def options_of(machine: DeviceModel, devices: tuple[str, ...]) -> ShardPass:
    """What `tg-shard` is told of a machine."""
    return ShardPass(devices, machine.flops, machine.link.bandwidth, machine.link.latency)


# -- checked with ranks of this machine ------------------------------------------------------------


class Row(NamedTuple):
    """A step as the model predicts it and as it was measured, in seconds."""

    model: str
    split: str
    ranks: int
    predicted: float
    computing: float
    measured: float


def slowest(call: Callable[[], object], rounds: int) -> float:
    """The median time of a call in which all processes take part, of the slowest one."""
    world = mpi_communicator().mpi.COMM_WORLD
    times: list[float] = []
    for _ in range(rounds):
        world.Barrier()
        start = time.perf_counter()
        call()
        taken = time.perf_counter() - start
        times.append(world.allreduce(taken, op=mpi_communicator().mpi.MAX))
    return statistics.median(times)


class Chain:
    """Steps, each with the state that the one before has left."""

    def __init__(self, step: Step, executable: Any) -> None:
        self.step, self.executable = step, executable
        self.arrays = step.arrays()
        self.losses: list[float] = []

    def __call__(self) -> None:
        loss, *state = self.executable.resident(*self.arrays)
        self.losses.append(float(np.asarray(loss.numpy() if hasattr(loss, "numpy") else loss)))
        for number, value in zip(self.step.changed, state, strict=True):
            self.arrays[number] = value


def measured_link() -> Link:
    """Latency and bandwidth of which all_reduce takes what it takes here, by a ring."""
    here = mpi_communicator()
    n = here.size

    def of(elements: int) -> float:
        value = np.ones(elements, np.float32)
        shape = (elements,)
        everyone = tuple(range(n))
        exchange = Exchange(Collective.ALL_REDUCE, everyone, shape, value.dtype, shape)
        call = lambda: here.start(exchange, value).wait()  # noqa: E731
        call()
        return slowest(call, 15)

    small, large = of(1), of(1 << 22)
    return Link(small / (2 * (n - 1)), 2 * (n - 1) / n * (1 << 24) / (large - small))


def measured_rates() -> tuple[float, float]:
    """Flops and bytes per second of a process, while all of them are at work."""
    a = np.random.default_rng(0).random((512, 512), np.float32)
    product = tg.compile(
        """func.func @main(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {
          %0 = tg.reshape %a [512, 512, 1] : tensor<512x512xf32> -> tensor<512x512x1xf32>
          %1 = tg.reshape %a [1, 512, 512] : tensor<512x512xf32> -> tensor<1x512x512xf32>
          %2 = tg.mul %0, %1
            : (tensor<512x512x1xf32>, tensor<1x512x512xf32>) -> tensor<512x512x512xf32>
          %3 = tg.reduce add %2 [1] : tensor<512x512x512xf32> -> tensor<512x1x512xf32>
          %4 = tg.reshape %3 [512, 512] : tensor<512x1x512xf32> -> tensor<512x512xf32>
          func.return %4 : tensor<512x512xf32>
        }"""
    )
    out = np.empty_like(a)
    source = np.ones(1 << 24, np.float32)
    target = np.ones_like(source)
    product(a, out=out)
    flops = 2 * 512**3 / slowest(lambda: product(a, out=out), 25)
    return flops, 2 * source.nbytes / slowest(lambda: np.copyto(target, source), 15)


def check(models: Sequence[str], rounds: int) -> list[Row]:
    """Predict and measure steps with the processes of this program."""
    here = mpi_communicator()
    devices = tuple(f"MPI:{i}" for i in range(here.size))
    link, (flops, memory) = measured_link(), measured_rates()
    rows: list[Row] = []
    for name in models:
        tg.Tensor.manual_seed(1)
        step = Step.of(Mlp() if name == "mlp" else Text(SMALL, 16))
        alone = Chain(step, tg.compile(step.module))
        alone()
        single = slowest(alone, rounds)
        function = step.module.body.block.first_op
        assert isinstance(function, FuncOp)
        work = estimate_tensors(function.body.block)
        share = (work.flops / flops + work.bytes / memory) / single
        machine = DeviceModel(share * flops, share * memory, link, overlaps=False)
        for split in SPLITS:
            module = step.annotated(split, devices)
            if split == "chosen":
                shard = sharded_stages(
                    module, "main", options_of(machine, devices), lambda: here.size
                )
                module = shard["tg-shard"]
            executable = tg.compile(module)
            chain = Chain(step, executable)
            chain()
            taken = slowest(chain, rounds)
            np.testing.assert_allclose(chain.losses, alone.losses, rtol=1e-3)
            expected = timeline(executable.program, machine)
            rows.append(Row(name, split, here.size, expected.seconds, expected.compute, taken))
    return rows


def checked(models: Sequence[str], rounds: int, counts: Sequence[int]) -> list[Row]:
    """Run `check` with different numbers of processes."""
    mpiexec = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or "mpiexec"
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        for ranks in tqdm(counts, desc="ranks"):
            command = [mpiexec, "-n", str(ranks), sys.executable, __file__, "--rows", str(file)]
            command += ["--rounds", str(rounds), "--models", *models]
            subprocess.run(command, check=True)
            rows += [Row(*row) for row in json.loads(file.read_text())]
    return rows


def print_check(rows: Sequence[Row]) -> None:
    print("| model | split | ranks | computing | communicating | predicted | measured | ratio |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        times = (row.computing, row.predicted - row.computing, row.predicted, row.measured)
        cells = [row.model, row.split, str(row.ranks), *(f"{1e3 * t:.1f} ms" for t in times)]
        print(f"| {' | '.join([*cells, f'{row.measured / row.predicted:.2f}'])} |")
    errors = [abs(np.log(row.measured / row.predicted)) for row in rows]
    print(f"\nTypical error {np.exp(statistics.fmean(errors)) - 1:.0%}, ", end="")
    print(f"largest {np.exp(max(errors)) - 1:.0%}.")


# -- planned ---------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """A predicted step: seconds by algorithm, the seconds of waiting by the better one, bytes of
    state on each device, and what is exchanged."""

    seconds: Mapping[str, float]
    waiting: float
    held: int
    collectives: str
    split: str

    @property
    def best(self) -> float:
        """The seconds by the better algorithm."""
        return min(self.seconds.values())


def planned(step: Step, split: str, count: int, machine: DeviceModel) -> Plan | None:
    """A step on so many devices; None if the split is not possible."""
    devices = tuple(f"D:{i}" for i in range(count))
    try:
        stages = sharded_stages(
            step.annotated(split, devices), "main", options_of(machine, devices)
        )
    except PassFailedException:
        return None
    program = program_of(stages["tg-split-collectives"], "main")
    found = {a: timeline(program, machine, a) for a in ("ring", "tree")}
    kinds = Counter(e.kind.value for e in exchanges(program))
    return Plan(
        {a: t.seconds for a, t in found.items()},
        min(found.values()).waiting,
        held(program),
        ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())) or "none",
        described(step, program),
    )


def exchanges(program: ShardedProgram) -> Sequence[Exchange]:
    return [e for s in program.steps if isinstance(e := getattr(s, "exchange", None), Exchange)]


def held(program: ShardedProgram) -> int:
    """The bytes of the inputs on each device."""
    total = 0
    for parameter, place in program.inputs:
        whole = int(np.prod(parameter.shape, dtype=np.int64)) * parameter.dtype.itemsize
        total += whole // (len(place.devices) if place.axis is not None else 1)
    return total


def described(step: Step, program: ShardedProgram) -> str:
    """How the batch, the weights and the state of the optimizer are split."""
    batch, *_ = program.inputs
    is_split = [i.place.axis is not None for i in program.inputs[2:]]
    sizes = [t.numel() for t in step.values]

    def share(chosen: Callable[[str], bool]) -> str:
        of = [
            (s, n) for s, n, name in zip(is_split, sizes, step.names, strict=True) if chosen(name)
        ]
        part = sum(n for s, n in of if s) / max(sum(n for _, n in of), 1)
        return f"{part:.0%}"

    rows = "split" if batch.place.axis is not None else "whole"
    weights, state = share(is_weight), share(lambda name: " of " in name)
    return f"batch {rows}, {weights} of weights and {state} of state split"


def plan(options: argparse.Namespace) -> list[tuple[int, str, Plan | None]]:
    """The plans for all numbers of devices."""
    link = Link(options.latency, options.bandwidth)
    machine = DeviceModel(options.flops, options.memory, link, not options.no_overlap)
    sizes = Sizes(options.vocabulary, options.context, options.width, options.heads, options.layers)
    rows: list[tuple[int, str, Plan | None]] = []
    bar = tqdm(total=len(options.devices) * len(SPLITS), disable=None)
    base: float | None = None
    for count in options.devices:
        batch = options.batch or options.batch_of_device * count
        step = Step.of(Text(sizes, batch))
        if base is None:
            print(
                f"{step.weights:,} weights; {'' if options.batch else 'for each device '}", end=""
            )
            print(f"{options.batch or options.batch_of_device} sequences of {sizes.context} tokens")
            base = 1.0
        for split in SPLITS:
            rows.append((count, split, planned(step, split, count, machine)))
            bar.update()
    bar.close()
    return rows


def print_plan(rows: Sequence[tuple[int, str, Plan | None]]) -> None:
    print("| devices | split | ring | tree | waiting | state | collectives | |")
    print("|---:|---|---:|---:|---:|---:|---|---|")
    for count, split, found in rows:
        if found is None:
            print(f"| {count} | {split} | - | - | - | - | - | sizes are not divisible |")
            continue
        times = [f"{1e3 * found.seconds[a]:.3g} ms" for a in ("ring", "tree")]
        cells = [str(count), split, *times, f"{found.waiting / found.best:.0%}"]
        cells += [f"{found.held / 2**20:.4g} MiB", found.collectives]
        print(f"| {' | '.join(cells)} | {found.split if split == 'chosen' else ''} |")


def draw(rows: Sequence[tuple[int, str, Plan | None]], file: str) -> None:
    """Draw the predicted times over the numbers of devices."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    for split in SPLITS:
        for algorithm, style in ("ring", "-"), ("tree", "--"):
            points = [(n, p.seconds[algorithm]) for n, s, p in rows if s == split and p is not None]
            if points:
                counts, seconds = zip(*points, strict=True)
                color = f"C{SPLITS.index(split)}"
                milliseconds = [1e3 * t for t in seconds]
                label = f"{split}, {algorithm}"
                axes.plot(counts, milliseconds, style, color=color, marker="o", ms=3, label=label)
    axes.set(xscale="log", yscale="log", xlabel="devices", ylabel="predicted step, ms")
    counts = sorted({n for n, _, _ in rows})
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Predict training steps on many devices.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="compare with ranks of this machine")
    parser.add_argument("--ranks", type=int, nargs="+", default=(2, 4), help="to check with")
    parser.add_argument("--models", nargs="+", default=["mlp", "gpt"], help="to check")
    parser.add_argument("--rounds", type=int, default=11, help="measured steps of each")
    parser.add_argument("--rows", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--plot", metavar="FILE", help="draw the plan, as .png or .svg")
    parser.add_argument("--devices", type=int, nargs="+", default=DEVICES)
    machine = parser.add_argument_group("each device, by default an NVIDIA H100 with f32")
    machine.add_argument("--flops", type=float, default=40e12, help="it reaches, per second")
    machine.add_argument("--memory", type=float, default=2.5e12, help="bytes per second")
    machine.add_argument("--bandwidth", type=float, default=45e9, help="bytes sent per second")
    machine.add_argument("--latency", type=float, default=10e-6, help="of a message, in seconds")
    machine.add_argument("--no-overlap", action="store_true", help="it waits while bytes are sent")
    model = parser.add_argument_group("the GPT")
    model.add_argument("--layers", type=int, default=4)
    model.add_argument("--width", type=int, default=1024)
    model.add_argument("--heads", type=int, default=16)
    model.add_argument("--context", type=int, default=1024)
    model.add_argument("--vocabulary", type=int, default=32768)
    model.add_argument("--batch-of-device", type=int, default=4, help="sequences: weak scaling")
    model.add_argument("--batch", type=int, help="sequences of all devices: strong scaling")
    options = parser.parse_args()
    if options.rows:
        rows = check(options.models, options.rounds)
        if mpi_communicator().rank == 0:
            Path(options.rows).write_text(json.dumps(rows))
        return
    if options.plot:
        import matplotlib  # noqa: F401  # Without it, stop before the work, not after.
    if options.check:
        print_check(checked(options.models, options.rounds, options.ranks))
    else:
        plans = plan(options)
        print_plan(plans)
        if options.plot:
            draw(plans, options.plot)


if __name__ == "__main__":
    main()
