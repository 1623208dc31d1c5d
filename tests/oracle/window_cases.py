"""The cases of ops.py on windows of a tensor and on its neighbours: pads, shuffles, pools, convolutions, upsampling."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from cases import A, BF16, F16, F32, F64, I64, I8, NAMES, Case, case, values

NEAR = {F16: 2e-3, BF16: 1.6e-2, F32: 1e-5, F64: 1e-13}


def pad_cases() -> Iterator[Case]:
    pads: dict[str, list[list[int]]] = {"1": [[2, 3], [0, 1], [4, 4]], "2": [[1, 2, 3, 0], [0, 0, 2, 2]], "3": [[1, 1, 2, 0, 1, 2]]}
    for dtype, (d, lists) in itertools.product((F32, BF16, I64, I8), pads.items()):
        x = values(dtype, (2, 3, 5, 6, 7)[: int(d) + 2])
        for pad, (mode, name) in itertools.product(lists, (("reflect", "reflection"), ("replicate", "replication"))):
            tag = f"{d}d.{NAMES[dtype]}.{pad}"
            yield from case(f"{name}_pad{tag}", lambda c, p=pad, f=getattr(A, f"{name}_pad{d}d"): f.default(c, p), x)
            yield from case(f"pad.{mode}.{tag}", lambda c, p=pad, m=mode: A.pad.default(c, p, m), x)
        for pad in lists:
            yield from case(f"pad.circular.{d}d.{NAMES[dtype]}.{pad}", lambda c, p=pad: A.pad.default(c, p, "circular"), x)
            yield from case(f"pad.constant.{d}d.{NAMES[dtype]}.{pad}", lambda c, p=pad: A.pad.default(c, p, "constant", 3), x)
            yield from case(f"_pad_circular.{d}d.{NAMES[dtype]}.{pad}", lambda c, p=pad: A._pad_circular.default(c, p), x)
    for name in ("reflection_pad1d", "replication_pad1d"):
        yield from case(f"{name}.cut", lambda c, f=getattr(A, name): f.default(c, [-2, 1]), values(F32, (3, 8)))
    yield from case("pad.constant.none", lambda c: A.pad.default(c, [1, -1]), values(F32, (3, 8)))


def shuffle_cases() -> Iterator[Case]:
    for dtype in (F32, BF16, I8):
        tag = NAMES[dtype]
        for shape in ((8, 3, 5), (2, 8, 3, 5), (1, 2, 8, 3, 5)):
            yield from case(f"pixel_shuffle.{tag}.{len(shape)}", lambda c: A.pixel_shuffle.default(c, 2), values(dtype, shape))
            yield from case(f"pixel_unshuffle.{tag}.{len(shape)}", lambda c: A.pixel_unshuffle.default(c, 2), values(dtype, (*shape[:-2], 6, 10)))
        for name in ("channel_shuffle", "native_channel_shuffle"):
            yield from case(f"{name}.{tag}", lambda c, f=getattr(A, name): f.default(c, 4), values(dtype, (2, 8, 3, 5)))


def pool_cases() -> Iterator[Case]:
    options: dict[str, tuple[Any, ...]] = {"plain": (3,), "stride": (2, 1), "pad": (3, 2, 1), "ceil": (3, 2, 1, True), "ceil2": (2, 3, 0, True)}
    for dtype, d, (name, o) in itertools.product((F32, F16, BF16), (1, 2, 3), options.items()):
        x = values(dtype, (2, 3, 9, 8, 7)[: d + 2])
        k, rest = [o[0]] * d, tuple([v] * d if i < 2 else v for i, v in enumerate(o[1:]))
        tag = f"{d}d.{NAMES[dtype]}.{name}"
        yield from case(f"avg_pool{tag}", lambda c, f=getattr(A, f"avg_pool{d}d"), k=k, r=rest: f.default(c, k, *r), x, near=NEAR[dtype])
        yield from case(f"avg_pool{tag}.without_pad", lambda c, f=getattr(A, f"avg_pool{d}d"), k=k, r=(*rest, *([[k[0]] * d, [0] * d, False][len(rest):]), False): f.default(c, k, *r), x, near=NEAR[dtype])
        dilated = (*rest[:2], [1] * d, rest[2]) if len(rest) > 2 else rest
        yield from case(f"max_pool{tag}", lambda c, f=getattr(A, f"max_pool{d}d"), k=k, r=dilated: f.default(c, k, *r), x)
        with_indices = getattr(A, f"max_pool{d}d_with_indices")
        yield from case(f"max_pool{tag}.indices", lambda c, f=with_indices, k=k, r=dilated: list(f.default(c, k, *r)), x)
    for dtype in (F32, BF16):
        x, tag = values(dtype, (2, 3, 9, 8)), NAMES[dtype]
        yield from case(f"max_pool2d.{tag}.dilated", lambda c: list(A.max_pool2d_with_indices.default(c, [3, 2], [2, 1], [1, 0], [2, 3])), x)
        yield from case(f"max_pool2d.{tag}.flat", lambda c: A.max_pool2d.default(c[0], [2, 2]), x)
        yield from case(f"avg_pool2d.{tag}.divisor", lambda c: A.avg_pool2d.default(c, [2, 3], [2, 3], [1, 1], False, True, 5), x, near=NEAR[dtype])
        yield from case(f"adaptive_avg_pool2d.{tag}", lambda c: A.adaptive_avg_pool2d.default(c, [3, 4]), x, near=NEAR[dtype])
        yield from case(f"adaptive_avg_pool2d.{tag}.one", lambda c: A.adaptive_avg_pool2d.default(c, [1, 1]), x, near=NEAR[dtype])
        yield from case(f"_adaptive_avg_pool2d.{tag}", lambda c: A._adaptive_avg_pool2d.default(c, [9, 2]), x, near=NEAR[dtype])
        yield from case(f"adaptive_avg_pool1d.{tag}", lambda c: A.adaptive_avg_pool1d.default(c[0], [4]), x, near=NEAR[dtype])
        yield from case(f"adaptive_avg_pool3d.{tag}", lambda c: A.adaptive_avg_pool3d.default(c, [3, 3, 2]), x, near=NEAR[dtype])
        yield from case(f"_adaptive_avg_pool3d.{tag}", lambda c: A._adaptive_avg_pool3d.default(c, [1, 3, 2]), x, near=NEAR[dtype])
    yield from case("adaptive_avg_pool2d.uneven", lambda c: A.adaptive_avg_pool2d.default(c, [2, 3]), values(F32, (1, 2, 5, 7)), keep="unsupported_argument", core=False)


def convolution_cases() -> Iterator[Case]:
    options: dict[str, tuple[Any, ...]] = {"plain": (1, 0, 1), "stride": (2, 1, 1), "dilated": (1, 2, 2)}
    for dtype, d, (name, (stride, padding, dilation)), groups in itertools.product((F32, BF16, F64), (1, 2, 3), options.items(), (1, 2)):
        x, w = values(dtype, (2, 4, 7, 6, 8)[: d + 2]), values(dtype, (6, 4 // groups, 3, 2, 3)[: d + 2], 1)
        bias = values(dtype, (6,), 2)
        tag, near = f"{d}d.{NAMES[dtype]}.{name}.{groups}", NEAR[dtype]
        o = ([stride] * d, [padding] * d, [dilation] * d)
        fn: Callable[..., Any] = getattr(A, f"conv{d}d").default
        yield from case(f"conv{tag}", lambda c, v, b, f=fn, o=o, g=groups: f(c, v, b, *o, g), x, w, bias, near=near)
        yield from case(f"convolution.{tag}", lambda c, v, o=o, g=groups, d=d: A.convolution.default(c, v, None, *o, False, [0] * d, g), x, w, near=near)
    yield from case("convolution.transposed", lambda c, v: A.convolution.default(c, v, None, [1], [0], [1], True, [0], 1),
                    values(F32, (1, 2, 6)), values(F32, (2, 3, 2), 1), keep="unsupported_argument", core=False)


def upsample_cases() -> Iterator[Case]:
    sizes = {1: [11], 2: [11, 4], 3: [5, 4, 9]}
    for dtype, d in itertools.product((F32, BF16, F16), (1, 2, 3)):
        x, size, tag, near = values(dtype, (2, 3, 5, 6, 4)[: d + 2]), sizes[d], f"{d}d.{NAMES[dtype]}", NEAR[dtype]
        for name in (f"upsample_nearest{d}d", f"_upsample_nearest_exact{d}d"):
            fn = getattr(A, name)
            yield from case(f"{name}.{tag}", lambda c, f=fn, s=size: f.default(c, s), x)
            yield from case(f"{name}.{tag}.scaled", lambda c, f=fn, d=d: f.vec(c, None, [1.7] * d), x)
            yield from case(f"{name}.{tag}.doubled", lambda c, f=fn, d=d: f.vec(c, None, [2.0] * d), x)
        name = {1: "upsample_linear1d", 2: "upsample_bilinear2d", 3: "upsample_trilinear3d"}[d]
        for fn, corners in itertools.product((getattr(A, name), *([A.upsample_bicubic2d] if d == 2 else [])), (False, True)):
            yield from case(f"{fn.__name__}.{tag}.{corners}", lambda c, f=fn, s=size, a=corners: f.default(c, s, a), x, near=near)
            yield from case(f"{fn.__name__}.{tag}.{corners}.scaled", lambda c, f=fn, a=corners, d=d: f.vec(c, None, a, [1.7] * d), x, near=near)
            yield from case(f"{fn.__name__}.{tag}.{corners}.less", lambda c, f=fn, a=corners, d=d: f.vec(c, [3] * d, a, None), x, near=near)


def window_cases() -> list[Case]:
    makers = (pad_cases, shuffle_cases, pool_cases, convolution_cases, upsample_cases)
    return [c for make in makers for c in make()]
