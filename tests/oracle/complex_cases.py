"""The cases of ops.py on complex numbers."""
from __future__ import annotations

from collections.abc import Iterator

import torch
from cases import F16, F32, F64, I64, A, Case, case, special, values
from torch import Tensor

C64, C128 = torch.complex64, torch.complex128


def numbers(shape: tuple[int, ...] = (3, 4), seed: int = 0) -> Tensor:
    return torch.complex(values(F32, shape, seed), values(F32, shape, seed + 1))


def made_cases() -> Iterator[Case]:
    x, y = values(F32), values(F32, (3, 4), 1)
    yield from case("complex", A.complex.default, x, y)
    yield from case("complex.broadcast", A.complex.default, values(F32, (5, 1, 3)), values(F32, (4, 1)))
    yield from case("complex.special", A.complex.default, special(F32), special(F32).flip(0))
    yield from case("polar", A.polar.default, x, y, ulp=2)
    yield from case("polar.ones", lambda c: A.polar.default(torch.ones_like(c), c), values(F32, (33, 7)), ulp=2)
    yield from case("view_as_complex", A.view_as_complex.default, values(F32, (3, 5, 2)))
    yield from case("view_as_complex.copy", A.view_as_complex_copy.default, values(F32, (3, 5, 2)))
    yield from case("complex.f64", A.complex.default, x.double(), y.double(), keep="unsupported_dtype", core=False)


def part_cases() -> Iterator[Case]:
    z = numbers()
    for name in ("real", "imag", "view_as_real"):
        yield from case(name, lambda c, name=name: getattr(torch, name)(c).clone(), z)
        yield from case(f"{name}.turned", lambda c, name=name: getattr(torch, name)(c).clone(), z.t())
    yield from case("view_as_real.copy", A.view_as_real_copy.default, z)
    yield from case("conj_physical", A.conj_physical.default, z)
    yield from case("conj_physical.real", A.conj_physical.default, values(F32))
    yield from case("complex.moves", lambda c: A.permute.default(c, [1, 0]).unsqueeze(2).expand(4, 3, 2).clone(), z)


def product_cases() -> Iterator[Case]:
    z = numbers((5, 7))
    others = {"c64": numbers((5, 7), 3), "row": numbers((7,), 3), "f32": values(F32, (5, 7)), "f16": values(F16, (7,)), "i64": values(I64, (5, 7)),
              "zero": values(F64, ()), "special": torch.complex(special(F32)[:7], special(F32)[7:14])}
    for name, other in others.items():
        yield from case(f"mul.complex.{name}", A.mul.Tensor, z, other)
        yield from case(f"mul.{name}.complex", A.mul.Tensor, other, z)
    for v in (1.0, -2.5, 3):
        yield from case(f"mul.complex.number.{v}", lambda c, v=v: A.mul.Tensor(c, v), z)
    yield from case("mul.complex.f64", A.mul.Tensor, z, values(F64, (5, 7)), keep="unsupported_dtype", core=False)
    yield from case("mul.c128", A.mul.Tensor, z.to(C128), z.to(C128), keep="unsupported_dtype", core=False)


def complex_cases() -> list[Case]:
    return [*made_cases(), *part_cases(), *product_cases()]
