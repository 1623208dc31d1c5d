"""The cases of ops.py on torchao: quantize and dequantize by blocks, the choice of scales and zero points, 8-bit floats."""
from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch
import torchao.quantization.quant_primitives  # noqa: F401  registers torchao
from cases import BF16, F16, F32, F64, I8, I16, I32, NAMES, U8, Case, case, values
from torch import Tensor

T = torch.ops.torchao
F8 = (torch.float8_e4m3fn, torch.float8_e5m2)
SHAPE = (4, 6, 8)
# How the data is cut: per tensor, axis, group, block, and each element by itself.
BLOCKS = {"tensor": (4, 6, 8), "axis0": (1, 6, 8), "axis1": (4, 1, 8), "last": (4, 6, 1), "group": (1, 1, 4), "block": (2, 3, 8), "each": (1, 1, 1)}
# Containers and the bounds that are given; no bounds are those of the container.
INTEGERS = {"i8": (I8, None, None), "u8": (U8, None, None), "i4": (I8, -8, 7), "u4": (U8, 0, 15), "i8.narrow": (I8, -127, 127), "i16": (I16, None, None)}


def grid(block: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n // b for n, b in zip(SHAPE, block, strict=True))


def scales(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    return (values(F32, shape, 3, True) * 0.01 + 0.003).to(dtype)


def zeros(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    n = int(torch.tensor(shape).prod())
    return (torch.arange(n) % 7).to(dtype).reshape(shape)


def quantize_cases() -> Iterator[Case]:
    for (cut, block), (name, (q, low, high)), real in itertools.product(BLOCKS.items(), INTEGERS.items(), (F32, BF16, F16)):
        if q == I16 and real != F32:
            continue  # a half rounds the bound out of the range of i16
        x = values(real, SHAPE, 1)
        for scale, zero in ((F32, I32), (real, I8), (F32, F32), (F64, I32)):
            tag = f"{name}.{cut}.{NAMES[real]}.{NAMES[scale]}.{NAMES[zero]}"
            yield from case(f"quantize_affine.{tag}", lambda c, s, z, b=block, q=q, m=(low, high): T.quantize_affine(c, b, s, z, q, *m),
                            x, scales(grid(block), scale), zeros(grid(block), zero), core=name == "i4" and scale == F32)
    yield from case("quantize_affine.flat_scales", lambda c, s, z: T.quantize_affine(c, (1, 6, 8), s, z, I8), values(F32, SHAPE), scales((4,), F32), zeros((4,), I32))
    yield from case("quantize_affine.i32", lambda c, s, z: T.quantize_affine(c, (1, 6, 8), s, z, I32, -1000, 1000), values(F32, SHAPE), scales((4,), F32), zeros((4,), I32))
    yield from case("quantize_affine.nan", lambda c, s, z: T.quantize_affine(c / 0 * 0, (4, 6, 8), s, z, I8), values(F32, SHAPE), scales((1,), F32), zeros((1,), I32), core=False)


def dequantize_cases() -> Iterator[Case]:
    for (cut, block), (name, (q, low, high)), out in itertools.product(BLOCKS.items(), INTEGERS.items(), (F32, BF16, F16)):
        info = torch.iinfo(q)
        stored = torch.randint(info.min if low is None else low, (info.max if high is None else high) + 1, SHAPE, generator=torch.Generator().manual_seed(1)).to(q)
        for scale, zero in ((F32, I32), (out, I8), (F32, F32), (F32, None), (BF16, None)):
            tag = f"{name}.{cut}.{NAMES[out]}.{NAMES[scale]}.{zero and NAMES[zero]}"
            inputs = [stored, scales(grid(block), scale)] + ([] if zero is None else [zeros(grid(block), zero)])
            yield from case(f"dequantize_affine.{tag}",
                            lambda c, s, z=None, b=block, q=q, m=(low, high), o=out: T.dequantize_affine(c, b, s, z, q, *m, output_dtype=o),
                            *inputs, core=name == "i4" and scale == F32)
    for q, out in itertools.product(F8, (F32, BF16)):
        yield from case(f"dequantize_affine.{NAMES[q]}.{NAMES[out]}", lambda c, s, q=q, o=out: T.dequantize_affine(c, (1, 6, 8), s, None, q, output_dtype=o),
                        values(F32, SHAPE).to(q), scales((4,), F32))


def qparam_cases() -> Iterator[Case]:
    for mapping, (cut, block), real in itertools.product(("SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR", "ASYMMETRIC"), BLOCKS.items(), (F32, BF16, F16)):
        for name, (q, low, high) in INTEGERS.items():
            if mapping == "SYMMETRIC_NO_CLIPPING_ERR" and q == U8 or q == I16 and real != F32:
                continue
            tag = f"{mapping}.{name}.{cut}.{NAMES[real]}"
            yield from case(f"choose_qparams_affine.{tag}", lambda c, m=mapping, b=block, a=(q, low, high): list(T.choose_qparams_affine(c, m, b, *a)), values(real, SHAPE, 1), core=False)
        yield from case(f"choose_qparams_affine.{mapping}.{cut}.{NAMES[real]}.typed",
                        lambda c, m=mapping, b=block: list(T.choose_qparams_affine(c, m, b, I8, -8, 7, 0.25, F32, I8, True)), values(real, SHAPE, 1))
    yield from case("choose_qparams_affine.zeros", lambda c: list(T.choose_qparams_affine(c * 0, "ASYMMETRIC", (1, 6, 8), I8)), values(F32, SHAPE))


def float8_cases() -> Iterator[Case]:
    shapes: dict[str, tuple[int, ...]] = {"one": (), "ones": (1, 1, 1), "rows": (4, 6, 1), "blocks": (2, 3, 4), "each": SHAPE}
    for q, real, (name, shape) in itertools.product(F8, (F32, BF16), shapes.items()):
        x, s = values(real, SHAPE) * 30, scales(shape, F32)
        yield from case(f"quantize_float8.{NAMES[q]}.{NAMES[real]}.{name}", lambda c, d, q=q: T.quantize_affine_float8_non_decomposed(c, d, q), x, s)
        yield from case(f"dequantize_float8.{NAMES[q]}.{NAMES[real]}.{name}", lambda c, d, o=real: T.dequantize_affine_float8_non_decomposed(c, d, o), values(F32, SHAPE).to(q), s)
    for real, (cut, block) in itertools.product((F32, BF16, F16), BLOCKS.items()):
        yield from case(f"choose_scale_float8.{NAMES[real]}.{cut}", lambda c, b=block: T.choose_scale_float8(c, b), values(real, SHAPE))
        yield from case(f"choose_scale_float8.{NAMES[real]}.{cut}.bounded", lambda c, b=block: T.choose_scale_float8(c, b, torch.float8_e5m2, F32, 0.5, 4.0), values(real, SHAPE))


def affine_cases() -> list[Case]:
    makers = (quantize_cases, dequantize_cases, qparam_cases, float8_cases)
    return [c for make in makers for c in make()]
