#!/usr/bin/env python3
"""Folds the same weights with qfold and with whatever else this Python has: one table of seconds, copies and memory.

    bench/rivals.py --program build/default/qfold [--size 1G] [--work qk lora int8] [--rounds 3]

Each tool reads the format it is made for, in a process of its own: qfold a .pt2, onnxruntime, onnxscript and onnxsim an .onnx, torch a
.safetensors that a script of its own turns into another. `seconds`: of the best round, imports left out. `x_cp`: the time of `cp` of
half the bytes of input and output together, over that time. `left`: nodes that still stand between weights and their use.
"""
from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

LAYERS, HEAD, RANK, SCALE = 16, 128, 16, 0.015625

Weights = dict[str, Any]

# The weights, as numpy arrays by name


def weights(work: str, n: int) -> Weights:
    import numpy

    rng = numpy.random.default_rng(1)
    made: Weights = {}
    for i in range(LAYERS):
        made[f"w{i}"] = rng.random((n, n), numpy.float32)
        if work == "lora":
            made[f"b{i}"], made[f"a{i}"] = rng.random((n, RANK), numpy.float32), rng.random((RANK, n), numpy.float32)
        if work == "int8":
            made[f"w{i}"] = (made[f"w{i}"] * 255 - 128).astype(numpy.int8)
            made[f"s{i}"], made[f"z{i}"] = rng.random(n, numpy.float32), numpy.zeros(n, numpy.int8)
    return made


# What stands between a weight and its use, in torch and as ONNX nodes


def torch_chain(work: str, get: Callable[[str], Any], i: int) -> Any:
    w = get(f"w{i}")
    if work == "qk":
        return w.view(w.shape[0] // HEAD, 2, HEAD // 2, w.shape[1]).transpose(1, 2).reshape(w.shape)
    if work == "lora":
        return w + (get(f"b{i}") @ get(f"a{i}")) * SCALE
    return ((w.to(dtype=get(f"s{i}").dtype) - get(f"z{i}").unsqueeze(1)) * get(f"s{i}").unsqueeze(1)).t()


def onnx_chain(work: str, i: int) -> list[Any]:
    from onnx.helper import make_node as node

    w, result = f"w{i}", f"folded{i}"
    if work == "qk":
        return [node("Reshape", [w, "split"], [f"r{i}"]), node("Transpose", [f"r{i}"], [f"t{i}"], perm=[0, 2, 1, 3]),
                node("Reshape", [f"t{i}", "whole"], [result])]
    if work == "lora":
        return [node("MatMul", [f"b{i}", f"a{i}"], [f"ba{i}"]), node("Mul", [f"ba{i}", "scale"], [f"m{i}"]), node("Add", [w, f"m{i}"], [result])]
    return [node("DequantizeLinear", [w, f"s{i}", f"z{i}"], [f"d{i}"], axis=0), node("Transpose", [f"d{i}"], [result], perm=[1, 0])]


# Files


def make_onnx(work: str, n: int, path: str) -> None:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    constants = weights(work, n) | {"split": numpy.array([n // HEAD, 2, HEAD // 2, n]), "whole": numpy.array([n, n]),
                                    "scale": numpy.array(SCALE, numpy.float32)}
    nodes = [node for i in range(LAYERS) for node in
             [*onnx_chain(work, i), helper.make_node("MatMul", [f"x{i}", f"folded{i}"], [f"x{i + 1}"])]]
    used = {name for node in nodes for name in node.input}
    shape = [1, n]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x0", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(f"x{LAYERS}", TensorProto.FLOAT, shape)],
                              [numpy_helper.from_array(v, k) for k, v in constants.items() if k in used])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def make_safetensors(work: str, n: int, path: str) -> None:
    from safetensors.numpy import save_file

    save_file(weights(work, n), path)


def make_pt2(work: str, n: int, path: str) -> None:
    import torch

    class Layers(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for k, v in weights(work, n).items():
                self.register_buffer(k, torch.from_numpy(v))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for i in range(LAYERS):
                x = x @ torch_chain(work, self.get_buffer, i)
            return x

    torch.export.save(torch.export.export(Layers(), (torch.zeros(1, n),)), path)


MAKERS = {".onnx": make_onnx, ".safetensors": make_safetensors, ".pt2": make_pt2}

# Rivals: each folds `source` into `target`


def run_torch(work: str, source: str, target: str) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    with torch.no_grad():
        given = load_file(source)
        save_file({f"w{i}": torch_chain(work, given.__getitem__, i).contiguous() for i in range(LAYERS)}, target)


def run_onnxruntime(work: str, source: str, target: str) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = target
    options.log_severity_level = 3
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def run_onnxscript(work: str, source: str, target: str) -> None:
    import onnx
    import onnxscript.optimizer

    most = 1 << 40
    model = onnxscript.optimizer.optimize(onnx.load(source), onnx_shape_inference=False, input_size_limit=most, output_size_limit=most)
    onnx.save(model, target)


def run_onnxsim(work: str, source: str, target: str) -> None:
    import onnx
    import onnxsim

    onnx.save(onnxsim.simplify(onnx.load(source))[0], target)


RIVALS: dict[str, tuple[str, Callable[[str, str, str], None], tuple[str, ...]]] = {
    "torch": (".safetensors", run_torch, ("torch", "safetensors.torch")),
    "onnxruntime": (".onnx", run_onnxruntime, ("onnxruntime",)),
    "onnxscript": (".onnx", run_onnxscript, ("onnx", "onnxscript.optimizer")),
    "onnxsim": (".onnx", run_onnxsim, ("onnx", "onnxsim")),
}
"""Name -> format, function, modules that are imported before the clock starts."""


def peak_kib() -> int:
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))


def nodes_left(target: str) -> int | None:
    if not target.endswith(".onnx"):
        return None
    import onnx

    return sum(node.op_type != "MatMul" for node in onnx.load(target, load_external_data=False).graph.node)


def child(name: str, work: str, source: str, target: str) -> None:
    _, run, modules = RIVALS[name]
    for module in modules:
        importlib.import_module(module)
    begin = time.perf_counter()
    run(work, source, target)
    seconds, peak = time.perf_counter() - begin, peak_kib()
    print(json.dumps({"seconds": seconds, "peak": peak, "left": nodes_left(target)}))


# The table


def spawn(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True)


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1][:100]


def fold_with_qfold(program: str, work: str, source: str, target: str) -> dict[str, Any]:
    """This process is small, so the high-water mark of its child is the child's own."""
    report = target + ".json"
    wide = ["--fold-dequant"] if work == "int8" else []
    begin = time.perf_counter()
    pid = os.posix_spawn(program, [program, "fold", source, "-o", target, "--force", "--quiet", "--max-growth", "none", "--json", report, *wide],
                         os.environ)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - begin
    if status:
        return {"failed": f"exit {os.waitstatus_to_exitcode(status)}"}
    summary = json.loads(Path(report).read_text())["summary"]
    return {"seconds": seconds, "peak": usage.ru_maxrss, "left": summary["kept"] - LAYERS}


def fold_with(name: str, work: str, source: str, target: str) -> dict[str, Any]:
    done = spawn("--child", name, work, source, target)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"failed": last_line(done.stderr)}


def best_of(rounds: int, run: Callable[[], dict[str, Any]], target: str) -> dict[str, Any]:
    results = []
    for _ in range(rounds):
        Path(target).unlink(missing_ok=True)
        results.append(run())
        if "failed" in results[-1]:
            return results[-1]
    return min(results, key=lambda r: r["seconds"])


def copy_seconds(source: str, target: str) -> float:
    """Seconds that cp takes for half the bytes of both together, at the pace of the larger one."""
    larger = max(source, target, key=os.path.getsize)
    copy, best = larger + ".copy", 1e9
    for _ in range(3):
        begin = time.perf_counter()
        subprocess.run(["cp", larger, copy], check=True)
        best = min(best, time.perf_counter() - begin)
        os.unlink(copy)
    return best * (os.path.getsize(source) + os.path.getsize(target)) / 2 / os.path.getsize(larger)


def print_row(name: str, result: dict[str, Any], copied: float) -> None:
    if "failed" in result:
        print(f"  {name:12} failed: {result['failed']}")
        return
    left = "" if result["left"] is None else result["left"]
    print(f"  {name:12} {result['seconds']:9.3f} {copied / result['seconds']:7.3f} {result['peak'] / 1024:9.0f} {left:>5}", flush=True)


def compare(work: str, n: int, program: str | None, rounds: int) -> None:
    print(f"{work}: {LAYERS} weights of {n} x {n}\n  {'':12} {'seconds':>9} {'x_cp':>7} {'RSS, MiB':>9} {'left':>5}", flush=True)
    here = {name: row for name, row in RIVALS.items() if all(importlib.util.find_spec(m.split(".")[0]) for m in row[2])}
    folder = tempfile.mkdtemp(prefix="qfold-rivals-")
    try:
        for suffix in (".pt2", ".onnx", ".safetensors"):
            runs = {name: (lambda s, t, k=name: fold_with(k, work, s, t)) for name, row in here.items() if row[0] == suffix}
            if program and suffix == ".pt2":
                runs["qfold"] = lambda s, t: fold_with_qfold(program, work, s, t)
            source, target = f"{folder}/model{suffix}", f"{folder}/folded{suffix}"
            made = spawn("--make", work, str(n), source) if runs else None
            for name, run in runs.items():
                failed = {"failed": last_line(made.stderr)} if made.returncode else None
                result = failed or best_of(rounds, lambda: run(source, target), target)
                print_row(name, result, 0 if "failed" in result else copy_seconds(source, target))
            for path in Path(folder).iterdir():
                path.unlink()
    finally:
        shutil.rmtree(folder)


def bytes_of(text: str) -> int:
    units = {"K": 10, "M": 20, "G": 30}
    return int(text[:-1]) << units[text[-1]] if text[-1] in units else int(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="the qfold program; without it only the others run")
    parser.add_argument("--size", type=bytes_of, default=64 << 20, help="bytes of the weights as f32 (K M G)")
    parser.add_argument("--work", nargs="+", choices=["qk", "lora", "int8"], default=["qk", "lora", "int8"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--make", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
    elif options.make:
        work, n, path = options.make
        MAKERS[Path(path).suffix](work, int(n), path)
    else:
        n = max(int((options.size / 4 / LAYERS) ** 0.5) // HEAD, 1) * HEAD
        for work in options.work:
            compare(work, n, options.program, options.rounds)


if __name__ == "__main__":
    main()
