#!/usr/bin/env python3
"""Faults that users of other folders and weight tools reported, as small programs with the right answer.

    known_faults.py --qfold PROGRAM [--only GLOB] [--keep FOLDER]

Each row states what the folded program computes (numbers worked out by hand, not by torch where torch was at fault), which operators
it has lost, which it keeps and why, and which tensors it stores. The last line is `N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import fnmatch
import json
import logging
import math
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import Tensor, nn

from row_suite import run_rows

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
torch.set_num_threads(1)
Q = torch.ops.quantized_decomposed
INF, NAN = math.inf, math.nan
I8, U8, I32, I64, F16, BF16, F32, F64 = torch.int8, torch.uint8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64


@dataclass
class Fault:
    """run(m, x) gives a tuple of results; want: what the first of them are, as nested lists, None: whatever torch says of the unfolded
    program. state: buffers of m.  gone: operators that must vanish; kept: operator -> reason.  sizes: bytes of the stored payloads.
    dynamic: dimensions of x that vary; others: more inputs, for which the folded program must agree too. code: of a fold that must
    fail, and leave no output."""
    name: str
    run: Callable[..., Any]
    want: list[Any] | None = None
    state: dict[str, Any] = field(default_factory=dict)
    transient: tuple[str, ...] = ()
    x: Tensor = field(default_factory=lambda: torch.tensor([[1.0, 2.0, 3.0]]))
    options: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    kept: dict[str, str] = field(default_factory=dict)
    sizes: list[int] | None = None
    dtypes: tuple[torch.dtype, ...] = ()
    form: str = "raw"
    dynamic: dict[int, Any] | None = None
    others: tuple[Tensor, ...] = ()
    code: int = 0
    near: float = 0.0


class Module(nn.Module):
    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self.run = fault.run
        for name, value in fault.state.items():
            if isinstance(value, nn.Parameter):
                self.register_parameter(name, value)
            else:
                self.register_buffer(name, value, persistent=name not in fault.transient)

    def forward(self, x: Tensor) -> Any:
        out = self.run(self, x)
        return out if isinstance(out, tuple) else (out,)


def t(values: Any, dtype: torch.dtype = F32) -> Tensor:
    return torch.tensor(values, dtype=dtype)


def f32_of_bits(*bits: int) -> Tensor:
    return t([b - (1 << 32) if b >= 1 << 31 else b for b in bits], I32).view(F32)


def per_channel(q: Tensor, scale: Tensor, axis: int) -> Tensor:
    return Q.dequantize_per_channel(q, scale, torch.zeros_like(scale, dtype=I64), axis, -128, 127, I8)


def quantize(x: Tensor, scale: float, zero: int = 0, low: int = -128, high: int = 127, dtype: torch.dtype = I8) -> Tensor:
    return Q.quantize_per_tensor(x, scale, zero, low, high, dtype)


def dequantize(q: Tensor, scale: float, zero: int = 0) -> Tensor:
    return Q.dequantize_per_tensor(q, scale, zero, -128, 127, I8)


def mask(size: int) -> Callable[..., Tensor]:
    return lambda m, x: torch.full((1, 1, size, size), -INF).triu(1) + x.sum()


def written(m: Any, x: Tensor) -> Any:
    y, z = m.b * 2 + x.sum() * 0, m.k * 2
    m.b.add_(1)
    return y, z


def norm(m: Any, x: Tensor) -> Any:
    v = m.v
    return (m.g * (v / (v * v).sum((1, 2), keepdim=True).sqrt())).reshape(2, 2) + x.sum() * 0


def in_a_body(fn: Callable[[], Tensor]) -> Callable[..., Any]:
    def run(m: Any, x: Tensor) -> Any:
        with torch.enable_grad():
            y = fn()
        return (y, x)
    return run


def quantised_zeros(m: Any, x: Tensor) -> Any:
    """A row of zeros has the least scale, no NaN."""
    scale, zero = Q.choose_qparams.tensor(m.v[0], -128, 127, 1e-5, I8)
    q = Q.quantize_per_channel(m.v, torch.stack([scale[0], torch.ones((), dtype=F64)]).float(), torch.stack([zero[0], zero[0] * 0]), 0, -128, 127, I8)
    return scale, q, x


def quotient(m: Any, x: Tensor) -> Any:
    return m.a // m.b + x.sum().to(I32) * 0, (m.a % m.c)


def every_reason(m: Any, x: Tensor) -> Any:
    """Nodes that stay, each for a reason of its own."""
    written = m.state * 2 + x.sum() * 0
    m.state.add_(1)
    return (x + 1, torch.rand(2), written, m.a // m.b, torch.linalg.inv(m.square), torch.linalg.inv(m.square) + 1, torch.ones(1 << 20) * 2,
        m.square.neg(), m.wide.to(torch.complex32), torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)), dequantize(m.q, 0.5) + x[0, 0])


def accumulate(into: Tensor, what: Tensor) -> None:
    into.add_(what)


FOREIGN = torch.library.Library("qfold_faults", "DEF")
FOREIGN.define("accumulate(Tensor(a!) into, Tensor what) -> ()")
FOREIGN.impl("accumulate", accumulate, "CPU")
torch.library.register_fake("qfold_faults::accumulate", lambda into, what: None)


def foreign_write(m: Any, x: Tensor) -> Any:
    y, z, part = m.k * 2, m.k * 2, m.k * 3
    torch.ops.qfold_faults.accumulate(y, x[0])
    torch.ops.qfold_faults.accumulate(part[1:], x[0, 1:])
    return y, z, part


def in_bodies(m: Any, x: Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x + m._folded_add * 2, lambda x: x + m.tensor_0 * 3, (x,)), x @ m.tensor_0[:, None]


def captured(m: Any, x: Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x @ m.w, lambda x: x * 2, (x,)), x @ (m.w.t() * 2)


def low_rank(dtype: torch.dtype) -> Callable[..., Any]:
    return lambda m, x: (m.w + (2 * (m.b @ m.a)).to(dtype), x)


def rows(m: Any, x: Tensor) -> Any:
    return tuple(x + m.table[i] for i in range(0, 100, 10))


DQ = "quantized_decomposed.dequantize_per_channel.default"
W23 = t([[1, 2, 3], [4, 5, 6]], I8)
TRI = t([[1.0, 2, 3], [4, 5, 6]])

FAULTS = [
    # ---- what must stay
    Fault("random_numbers_are_not_constant", lambda m, x: (torch.full((2, 2), 2.0) * 3, x + torch.rand(3),
        nn.functional.dropout(torch.ones(3), 0.5, True), torch.empty(3).shape[0] + x),
          [[[6, 6], [6, 6]]], kept={"aten.rand.default": "random", "aten.dropout.default": "random"}, gone=("aten.full.default",)),
    Fault("written_buffer_is_state", written, [[2, 4, 6], [2, 4, 6]], {"b": t([1, 2, 3]), "k": t([1, 2, 3])},
        kept={"aten.mul.Tensor": "state"}),
    Fault("written_buffer_is_state_functional", written, [[2, 4, 6], [2, 4, 6]], {"b": t([1, 2, 3]), "k": t([1, 2, 3])},
        form="functional", kept={"aten.mul.Tensor": "state"}),
    Fault("written_transient_buffer_is_state", written, [[2, 4, 6], [2, 4, 6]], {"b": t([1, 2, 3]), "k": t([1, 2, 3])}, ("b", "k"),
        kept={"aten.mul.Tensor": "state"}),
    Fault("division_by_integer_zero", lambda m, x: x + (m.dead // m.dead).sum(), None, {"dead": t([4, 8], I32)},
        gone=("aten.floor_divide.default",)),
    Fault("division_that_overflows", quotient, [[2, -(1 << 31)], [0, -2]],
          {"a": t([4, -(1 << 31)], I32), "b": t([2, -1], I32), "c": t([2, -3], I32)}, kept={"aten.floor_divide.default": "undefined"}, gone=("aten.remainder.Tensor",)),
    Fault("division_that_overflows_strictly", quotient, state={"a": t([4, -(1 << 31)], I32), "b": t([2, -1], I32), "c": t([2, -3], I32)},
          options=("--strict",), code=1),
    Fault("every_reason", every_reason, state={"state": t([1.0, 2]), "a": t([4, -(1 << 31)], I32), "b": t([2, -1], I32), "square": torch.eye(3) * 2,
        "wide": t([1.0, 2]), "q": t([1, 2, 3], I8)}, options=("--keep-op", "aten.neg.default"),
          kept={"aten.add.Tensor": "runtime", "aten.rand.default": "random", "aten.add_.Tensor": "state", "aten.floor_divide.default": "undefined",
              "aten.linalg_inv.default": "unknown_op", "aten.mul.Tensor": "growth", "aten.neg.default": "keep_op", "aten.to.dtype": "unsupported_dtype",
              "higher_order.cond": "control_flow", "quantized_decomposed.dequantize_per_tensor.default": "quantised"}),
    Fault("shape_of_an_input", lambda m, x: (x.reshape(x.shape[0] * 3, 4), m.c.reshape(x.shape[1], x.shape[2]) * 1 + x), None, {"c": torch.arange(12.0)},
          x=torch.arange(24.0).view(2, 3, 4), dynamic={0: torch.export.Dim("batch", min=1, max=64)}, others=(torch.ones(1, 3, 4), torch.arange(60.0).view(5, 3, 4)),
          gone=("aten.mul.Tensor",), sizes=[48]),
    Fault("size_of_an_input", lambda m, x: (m.c * 2).expand(x.shape[0], 3) + torch.full((x.shape[0], 3), 2.0), None, {"c": t([1.0, 2, 3])},
          x=torch.ones(2, 3), dynamic={0: torch.export.Dim("batch", min=1, max=64)}, others=(torch.ones(1, 3), torch.ones(5, 3)), gone=("aten.mul.Tensor",),
          kept={"aten.expand.default": "runtime", "aten.full.default": "runtime"}),
    Fault("written_by_a_foreign_operator", foreign_write, [[3, 6, 9], [2, 4, 6], [3, 8, 12]], {"k": t([1.0, 2, 3])},
          kept={"aten.mul.Tensor": "state"}),
    Fault("split_past_the_growth", lambda m, x: tuple(x[0, 0] * p for p in dequantize(m.q, 0.5).split(4)), None, {"q": torch.arange(8, dtype=I8)},
          options=("--max-growth", "0"), kept={"aten.split.Tensor": "growth"}),
    Fault("random_numbers_in_a_body", in_a_body(lambda: torch.rand(3) + 1), kept={"aten.rand.default": "random"}),
    Fault("constants_in_a_body", in_a_body(lambda: torch.full((3,), 2.0) + 1), [[3, 3, 3]], gone=("wrap_with_set_grad_enabled", "aten.full.default")),
    Fault("kept_operator_in_a_body", in_a_body(lambda: torch.full((3,), 2.0) + 1), [[3, 3, 3]], options=("--keep-op", "aten.full.default"),
        kept={"aten.full.default": "keep_op"}),
    Fault("negative_index_is_an_error", lambda m, x: (x + torch.zeros(3) * m.i.numel(), (m.t.index_select(0, m.i.abs()) * 1)), [[[1, 2, 3]], [[4, 5, 6]]],
        {"t": TRI, "i": t([-1], I64)}, gone=("aten.index_select.default",)),
    # ---- growth
    Fault("small_mask", lambda m, x: (torch.full((3, 3), -INF).triu(1), x), [[[0, -INF, -INF], [0, 0, -INF], [0, 0, 0]]],
        gone=("aten.triu.default",), sizes=[36]),
    Fault("mask_of_ranges", lambda m, x: (torch.arange(3)[None] <= torch.arange(3)[:, None], x), [[[True, False, False], [True, True, False], [True] * 3]],
        gone=("aten.arange.*", "aten.le.Tensor")),
    Fault("mask_of_kept_ranges", lambda m, x: (torch.arange(3)[None] <= torch.arange(3)[:, None], x), None, options=("--keep-op", "aten.arange.*"),
        kept={"aten.arange.default": "keep_op", "aten.le.Tensor": "operand"}),
    Fault("large_mask", mask(1024), None, kept={"aten.triu.default": "growth"}),
    Fault("large_mask_allowed", mask(1024), None, options=("--max-growth", "none"), gone=("aten.triu.default",), sizes=[4 << 20]),
    Fault("expanded", lambda m, x: m.w.expand(16384, 64).contiguous() + x.sum(), None, {"w": torch.arange(64.0)[None]},
        kept={"aten.contiguous.default": "growth"}),
    Fault("expanded_allowed", lambda m, x: m.w.expand(16384, 64).contiguous() + x.sum(), None, {"w": torch.arange(64.0)[None]},
        options=("--max-growth", "64M"), gone=("aten.contiguous.default",), sizes=[4 << 20]),
    Fault("original_left_behind", lambda m, x: x @ m.w.t().contiguous(), None, {"w": torch.arange(768.0).view(256, 3)},
        gone=("aten.t.default", "aten.contiguous.default"), sizes=[3072]),
    Fault("original_is_an_output", lambda m, x: (x @ (m.w * 2).t(), m.w), None, {"w": torch.arange(768.0).view(256, 3)},
        sizes=[3072, 3072]),
    Fault("one_storage_many_views", rows, None, {"table": torch.arange(300.0).view(100, 3)}, gone=("aten.select.int",), sizes=[1200]),
    Fault("tied_weight_folded_once", lambda m, x: (x @ m.head.t(), x @ m.w.t(), nn.functional.embedding(torch.tensor([1]), m.w)), None,
          {"w": (tied := nn.Parameter(torch.arange(12.0).view(4, 3))), "head": tied}),
    Fault("all_constant", lambda m, x: (m.c.permute(1, 0), m.c, m.c.permute(1, 0)), [[[1, 4], [2, 5], [3, 6]], [[1, 2, 3], [4, 5, 6]],
        [[1, 4], [2, 5], [3, 6]]], {"c": TRI}, gone=("aten.permute.default",)),
    Fault("expand_is_the_last_constant", lambda m, x: x + (m.c + 1).expand(4, 3), [[[3, 5, 7]] * 4], {"c": t([[1.0, 2, 3]])},
        gone=("aten.expand.default",)),
    Fault("same_bytes_other_types", lambda m, x: (m.a + 0, m.b + 0, m.c + 0, m.d + 0, m.e + 0, m.f + 0), [[1, 0, 0, 0], [1, 0, 0, 0],
        [1], 1, [[1, 0], [0, 0]], [1, 0, 0, 0]],
          {"a": t([1, 0, 0, 0], U8), "b": t([1, 0, 0, 0], I8), "c": t([1], I32), "d": t(1, I32), "e": t([[1, 0], [0, 0]], U8),
              "f": t([1, 0, 0, 0], U8)}, gone=("aten.add.Tensor",)),
    Fault("names_that_look_generated", lambda m, x: (x + m._folded_add * 2, x + m._folded_mul * 3, x + m.tensor_0 * 5), [[[3, 6, 9]],
        [[7, 11, 15]], [[16, 17, 18]]],
          {"_folded_add": t([1.0, 2, 3]), "_folded_mul": t([2.0, 3, 4]), "tensor_0": t([3.0, 3, 3])}, ("_folded_add", "_folded_mul"),
              gone=("aten.mul.Tensor",)),
    Fault("names_that_look_generated_in_a_body", in_bodies, [[[3, 6, 9]], [[18]]], {"_folded_add": t([1.0, 2, 3]), "tensor_0": t([3.0, 3, 3])}),
    Fault("original_is_captured", captured, [[[30, 36, 42]], [[28, 64, 100]]], {"w": torch.arange(1.0, 10).view(3, 3)}, sizes=[36, 36]),
    # ---- quantised
    Fault("requantised", lambda m, x: (dequantize(quantize(dequantize(m.w, 0.5), 0.25, 3), 0.25, 3), x), [[31, 0.5, -1, -32.75]],
        {"w": t([100, 1, -2, -128], I8)}, options=("--fold-dequant",), gone=("quantized_decomposed.*",)),
    Fault("permuted_behind_dequantize", lambda m, x: (x @ per_channel(m.w, m.s, 0).permute(1, 0)[:, :2],
        per_channel(m.w, m.s, 0).permute(1, 0) + x.sum() * 0), None,
          {"w": W23, "s": t([1.0, 10])}),
    Fault("permuted_alone", lambda m, x: (per_channel(m.w, m.s, 0).permute(1, 0) + x.sum() * 0,), [[[1, 40], [2, 50], [3, 60]]],
        {"w": W23, "s": t([1.0, 10])}, gone=("aten.permute.default",), sizes=[6, 8, 16]),
    Fault("unsqueezed_axis", lambda m, x: (per_channel(m.w, m.s, 0).unsqueeze(0).unsqueeze(0) + x.sum() * 0,), [[[[[1, 2, 3],
        [40, 50, 60]]]]], {"w": W23, "s": t([1.0, 10])}, gone=("aten.unsqueeze.default",)),
    Fault("flattened_axis", lambda m, x: (per_channel(m.w, m.s, 0).reshape(6) + x.sum() * 0,), [[1, 2, 3, 40, 50, 60]], {"w": W23,
        "s": t([1.0, 10])}),
    Fault("signed_bytes", lambda m, x: (dequantize(m.w, 0.5).reshape(2, 2), x), [[[-64, -0.5], [0, 63.5]]],
        {"w": t([-128, -1, 0, 127], I8)}, options=("--fold-dequant",), gone=("quantized_decomposed.*",)),
    Fault("other_scale_behind_a_permute", lambda m, x: (quantize(dequantize(m.w, 0.5).permute(1, 0), 0.25), x), [[[6, 12], [8, -128],
        [10, 127]]], {"w": t([[3, 4, 5], [6, -128, 127]], I8)},
          options=("--fold-dequant",), gone=("quantized_decomposed.*",)),
    Fault("saturates", lambda m, x: (quantize(m.v, 1.0), quantize(m.v, 1.0, low=-127), quantize(m.u, 1.0, 0, 0, 255, U8),
        quantize(m.u, 1.0, 10, 0, 255, U8), x),
          [[-128, -128, -128, 127, 127], [-127, -127, -127, 127, 127], [255, 250, 255, 0], [255, 255, 255, 0]],
          {"v": t([-200, -128, -127.6, 127.6, 200]), "u": t([260, 250, 3e9, -3e9])}, gone=("quantized_decomposed.*",)),
    Fault("multiplies_by_the_reciprocal", lambda m, x: (quantize(m.a, 0.02), quantize(m.b, 0.0123), quantize(m.c, 0.3),
        quantize(m.d, 0.007), x), [[-122], [-126], [-128], [-108]],
          {"a": t([-2.45]), "b": t([-1.55595]), "c": t([-38.25]), "d": t([-0.7525])}, gone=("quantized_decomposed.*",)),
    Fault("odd_scales", lambda m, x: (per_channel(m.w, m.s, 1) + x.sum() * 0, x), [[[0, INF, NAN], [0, -INF, NAN]]], {"w": t([[1, 1, 1],
        [1, -1, 0]], I8), "s": t([0, INF, NAN])}, options=("--fold-dequant",)),
    Fault("zeros_are_quantised", quantised_zeros, [[1e-5], [[-128, -128, -128], [1, -2, 3]]], {"v": t([[0.0, 0, 0], [1, -2, 3]])},
        gone=("quantized_decomposed.*",), near=1e-6),
    Fault("eight_bit_floats", lambda m, x: (m.v.to(torch.float8_e4m3fn).to(F32), m.w.to(torch.float8_e5m2).to(F32), x),
        [[0, 0, 448, 448, 2 ** -9, 0, NAN], [57344, INF, INF, NAN]],
        {"v": t([0, -0.0, 448, 464, 2 ** -9, 2 ** -10, NAN]), "w": t([57344, 61440, INF, NAN])}, gone=("aten.to.*",)),
    # ---- rounding and types
    Fault("pair_of_casts", lambda m, x: (m.v.to(BF16).to(F32), x), [[0.333984375]], {"v": t([1 / 3])}, gone=("aten.to.*",)),
    Fault("bf16_rounds_to_even", lambda m, x: (m.v.to(BF16).view(torch.int16), x), [[0x3F80, 0x3F82, 0x3F81, 0x7F80, 0x7F7F, -0x8000]],
        {"v": f32_of_bits(0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x7F7F7FFF, 0x80000000)}, gone=("aten.to.*",)),
    Fault("bf16_nan", lambda m, x: (m.v.to(BF16).isnan(), x), [[True, True]], {"v": f32_of_bits(0x7F800001, 0xFFFFFFFF)},
        gone=("aten.to.*",)),
    Fault("every_node_rounds", lambda m, x: ((m.v + 1) + 1, x), [[2048]], {"v": t([2048], F16)}, gone=("aten.add.Tensor",)),
    Fault("floors_towards_minus_infinity", lambda m, x: (m.a // 2, m.a % 2, torch.fmod(m.a, 2), torch.div(m.a, 2, rounding_mode="trunc"),
        x), [[-4, 3], [1, 1], [-1, 1], [-3, 3]], {"a": t([-7, 7], I64)}),
    Fault("promotes", lambda m, x: (m.i * 2.5, m.i * m.d, m.f + m.d, m.u + m.b, m.t + m.t, torch.sub(m.d, 1, alpha=2), x), [[2.5, 5],
        [2, 4], [2.5], [-1], [True, False], 0],
          {"i": t([1, 2], I64), "d": t(2.0, F64), "f": t([0.5]), "u": t([1], U8), "b": t([-2], I8), "t": t([1, 0], torch.bool)},
              gone=("aten.add.Tensor", "aten.mul.Tensor"), dtypes=(F32, F64, F32, torch.int16, torch.bool, F64)),
    Fault("bf16_scalar_stays_bf16", lambda m, x: ((m.a * 1).view(torch.int16), x), [0x3F80], {"a": t(1.0, BF16)}, gone=("aten.mul.Tensor",),
        dtypes=(torch.int16,)),
    Fault("rank_zero_stays", lambda m, x: (m.a + m.a, torch.tensor(2.0) * 3, x), [3, 6], {"a": t(1.5)}, gone=("aten.add.Tensor",)),
    Fault("bool_bytes", lambda m, x: (m.v.to(I8), m.v.to(F32), m.v & m.v, m.v + m.v, x), [[0, 1, 1, 1], [0, 1, 1, 1],
        [False, True, True, True], [False, True, True, True]], {"v": t([0, 1, 2, 255], U8).view(torch.bool)}),
    # ---- ranges and triangles
    Fault("arange_lengths", lambda m, x: (torch.arange(0.1, 0.5, 0.05).numel() + 0 * x, (torch.arange(-4, 4, 0.01) * 0).sum() + 800,
        torch.arange(5, 0, -2), torch.arange(3, 3), torch.arange(0.6, 0.9, 0.1).shape[0] + x * 0),
          [[[8, 8, 8]], 800, [5, 3, 1], [], [[4, 4, 4]]], gone=("aten.arange.*",)),
    Fault("arange_above_24_bits", lambda m, x: (torch.arange(16777214, 16777222), torch.arange(16777214, 16777222, dtype=F32), x),
          [list(range(16777214, 16777222)), [16777214, 16777215, 16777216, 16777216, 16777218, 16777220, 16777220, 16777220]],
              gone=("aten.arange.*",)),
    Fault("triangles", lambda m, x: (m.v.triu(-5), m.v.triu(-1), m.v.triu(1), m.v.triu(3), m.v.triu(1 << 62), m.v.tril(-5), m.v.tril(-1),
        m.v.tril(1), m.v.tril(-(1 << 62)), x),
          [[[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]], [[0, 2, 3], [0, 0, 6]], [[0] * 3] * 2, [[0] * 3] * 2, [[0] * 3] * 2,
              [[0, 0, 0], [4, 0, 0]], [[1, 2, 0], [4, 5, 6]], [[0] * 3] * 2], {"v": TRI}, gone=("aten.tri*",)),
    Fault("triangle_of_nan", lambda m, x: (torch.full((2, 2), NAN).tril(), x), [[[NAN, 0], [NAN, NAN]]], gone=("aten.tril.default",)),
    # ---- layouts
    Fault("transposed_constant", lambda m, x: (m.c + 0, m.w + 0, x), [[[0, 3], [1, 4], [2, 5]]], {"c": torch.arange(6.0).view(2, 3).t(),
        "w": torch.arange(54.0).view(2, 3, 3, 3).to(memory_format=torch.channels_last)}, gone=("aten.add.Tensor",)),
    Fault("offset_and_step", lambda m, x: (m.a + 0, m.b + 0, x), [[2, 3, 4], [5, 7]], {"a": (base := torch.arange(10.0))[2:5],
        "b": base[5:9:2]}, gone=("aten.add.Tensor",)),
    Fault("dimensions_of_one", lambda m, x: (m.v.permute(0, 2, 3, 1) + 0, x), [[[[[1, 2]]], [[[3, 4]]]]],
        {"v": t([1.0, 2, 3, 4]).view(2, 2, 1, 1)}, gone=("aten.permute.default",)),
    Fault("freed_under_a_view", lambda m, x: x @ (m.w.reshape(3, 4) * 1) + sum((torch.full((1, 4),
        float(i)) * 2).sum() for i in range(50)), None, {"w": torch.arange(12.0)}, gone=("aten.full.default", "aten.reshape.default")),
    # ---- products
    Fault("empty_products", lambda m, x: (m.a @ m.b, m.b[:0].t() @ m.b, m.a.t() @ m.c[:, :0], x), [[[0] * 3] * 2, [[0] * 3] * 3,
        torch.zeros(0, 0)], {"a": torch.zeros(2, 0), "b": torch.zeros(0, 3), "c": torch.zeros(2, 2)}),
    Fault("nan_times_zero", lambda m, x: (m.a @ m.b, m.a @ m.c, x), [[[NAN]], [[2]]], {"a": t([[0.0, 1]]), "b": t([[NAN], [1]]),
        "c": t([[5.0], [2]])}, gone=("aten.matmul.default",)),
    Fault("integers_are_exact", lambda m, x: (m.a @ m.b, x), [[[3 * 17 * 33] * 21] * 45], {"a": torch.full((45, 33), 3.0),
        "b": torch.full((33, 21), 17.0)}, gone=("aten.matmul.default",)),
    Fault("integers_are_exact_in_another_library", lambda m, x: (m.a @ m.b, x), [[[3 * 17 * 33] * 21] * 45], {"a": torch.full((45, 33), 3.0),
        "b": torch.full((33, 21), 17.0)}, options=("--fast-gemm",), gone=("aten.matmul.default",)),
    Fault("low_rank_update", low_rank(F32), [[[5, 4, 5], [0, 23, 24], [11, 30, 31], [0, 10, 11]]], {"w": t([[1.0, 2, 3], [4, 5, 6], [7, 8, 9], [0, 0, 1]]),
        "b": t([[1.0, 0], [-1, 2], [1, 2], [0, 1]]), "a": t([[2.0, 1, 1], [0, 5, 5]])}, gone=("aten.matmul.default", "aten.add.Tensor")),
    Fault("low_rank_update_rounds_each_step", low_rank(BF16), None, {"w": t([[256.0, 1], [1, 1]], BF16), "b": t([[0.75], [1 / 3]]), "a": t([[1.0, 1 / 3]])},
        gone=("aten.matmul.default",), dtypes=(BF16,)),
    Fault("weight_norm_chain", norm, [[[1.2, 1.6], [3, 4]]], {"v": t([[[3.0], [4]], [[6], [8]]]), "g": t([[[2.0]], [[5]]])},
        gone=("aten.div.Tensor", "aten.sum.dim_IntList", "aten.sqrt.default"), sizes=[16], near=1e-6),
]


def same(want: Any, got: Any, near: float) -> bool:
    """Values, NaN for NaN, and shape."""
    wanted = torch.tensor(want, dtype=F64) if not isinstance(want, Tensor) else want.double()
    have = torch.as_tensor(got).double()
    return wanted.shape == have.shape and torch.allclose(wanted, have, rtol=near, atol=0, equal_nan=True)


def results(path: Path, x: Tensor) -> tuple[list[Any], Any]:
    program = torch.export.load(str(path))
    with torch.no_grad():
        torch.manual_seed(0)
        return list(program.module()(x)), program


def export(fault: Fault, path: Path) -> None:
    with torch.no_grad():
        program = torch.export.export(Module(fault).eval(), (fault.x,), dynamic_shapes=(fault.dynamic,) if fault.dynamic else None, strict=False)
        if fault.form == "functional":
            program = program.run_decompositions({})
        torch.export.save(program, str(path))


def op_name(node: torch.fx.Node) -> str:
    target = node.target
    return str(target) if isinstance(target, torch._ops.OpOverload) else getattr(target, "__name__", str(target))


def payload_sizes(path: Path) -> list[int]:
    with zipfile.ZipFile(path) as archive:
        return sorted(i.file_size for i in archive.infolist() if i.filename.split("/")[-1].startswith(("weight_", "tensor_")))


def findings(fault: Fault, tool: Path, folder: Path) -> list[str]:
    source, target, again, report = (folder / n for n in ("in.pt2", "out.pt2", "again.pt2", "report.json"))
    target.unlink(missing_ok=True)
    export(fault, source)
    done = subprocess.run([tool, "fold", source, "-o", target, "--force", "-q", "--json", report, *fault.options], capture_output=True,
        text=True)
    if done.returncode or fault.code:
        left = ["the output is there"] if done.returncode and target.exists() else []
        return left + ([] if done.returncode == fault.code else [f"exit {done.returncode}: {done.stderr.strip()}"])
    before, _ = results(source, fault.x)
    after, program = results(target, fault.x)
    wrong = []
    for k, (b, a) in enumerate(zip(before, after, strict=True)):
        want = fault.want[k] if fault.want is not None and k < len(fault.want) else b
        if not same(want, a, fault.near):
            wrong.append(f"result {k} is {a}, not {want}" + ("" if same(want, b, fault.near) else f"; torch has {b}"))
        if k < len(fault.dtypes) and a.dtype != fault.dtypes[k]:
            wrong.append(f"result {k} is {a.dtype}, not {fault.dtypes[k]}")
        if a.dtype != b.dtype or a.stride() != b.stride() and 0 not in b.stride():
            wrong.append(f"result {k} is {a.dtype} {a.stride()}, unfolded {b.dtype} {b.stride()}")
    for x in fault.others:
        wrong += [f"for {list(x.shape)} result {k} is {a}, not {b}" for k, (b, a) in
                  enumerate(zip(results(source, x)[0], results(target, x)[0], strict=True)) if not same(b, a, fault.near)]
    left = {op_name(n) for n in program.graph.nodes if n.op == "call_function"}
    wrong += [f"{op} is left" for op in left if any(fnmatch.fnmatch(op, p) for p in fault.gone)]
    stayed = {(e["op"], e["reason"]) for e in json.loads(report.read_text())["nodes"] if e["verdict"] == "kept"}
    wrong += [f"{op} is not kept for {reason}: {sorted(stayed)}" for op, reason in fault.kept.items() if (op, reason) not in stayed]
    if fault.sizes is not None and payload_sizes(target) != sorted(fault.sizes):
        wrong.append(f"payloads of {payload_sizes(target)} bytes, not {sorted(fault.sizes)}")
    if subprocess.run([tool, "verify", source, target], capture_output=True).returncode:
        wrong.append("verify does not agree")
    subprocess.run([tool, "fold", target, "-o", again, "--force", "-q", *fault.options], capture_output=True, check=True)
    if again.read_bytes() != target.read_bytes():
        wrong.append("folding again changes bytes")
    return wrong


if __name__ == "__main__":
    sys.exit(run_rows(__doc__, ((f.name, f) for f in FAULTS), findings))
