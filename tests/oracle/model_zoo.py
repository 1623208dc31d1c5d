"""The models of models.py: transformers' decoders, encoders and vision models with random weights, made from their configs, and a
weight-normalised convolution; static shapes, and dynamic ones under `NAME-dynamic`."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable

import torch
from torch import Tensor, nn
from torch.export import Dim

Made = tuple[nn.Module, tuple[Tensor, ...]]
Free = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Model:
    """free: the dimensions of each input that are dynamic. tolerance: of outputs when a constant differs, relative to the largest
    magnitude. ulps: of constants; or `exact`: how far constants may be from the program run in f64, relative to the largest magnitude.
    gone: op globs that must vanish. stays: reasons that constant nodes may be left with."""
    name: str
    make: Callable[[], Made]
    free: Free = ()
    tolerance: float = 0.0
    ulps: int = 0
    exact: float = 0.0
    gone: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    large: bool = False


def tokens(n: int = 16) -> Tensor:
    return torch.arange(n).remainder(30)[None]


def image(n: int) -> Tensor:
    return torch.linspace(-1, 1, 3 * n * n).view(1, 3, n, n)


class Result(nn.Module):
    """One result of a transformers model, its inputs by name, without its cache."""

    def __init__(self, model: nn.Module, result: str, *names: str, **kwargs: Any) -> None:
        super().__init__()
        self.model, self.result, self.names, self.kwargs = model, result, names, kwargs

    def forward(self, *inputs: Tensor) -> Tensor:
        return getattr(self.model(**dict(zip(self.names, inputs, strict=True)), **self.kwargs), self.result)


def attention(config: Any) -> Any:
    """The configuration, with masks that torch.export can store."""
    from transformers.integrations.executorch import sdpa_mask_without_vmap
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    name = "sdpa_without_vmap"
    ALL_MASK_ATTENTION_FUNCTIONS.register(name, sdpa_mask_without_vmap)
    ALL_ATTENTION_FUNCTIONS.register(name, ALL_ATTENTION_FUNCTIONS["sdpa"])
    config._attn_implementation = name
    return config


# What the configurations have in common.
SMALL = {"vocab_size": 64, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def decoder(kind: str, **config: Any) -> Made:
    """A causal language model of transformers."""
    from transformers import AutoConfig, AutoModelForCausalLM
    made = AutoConfig.for_model(kind, **{"max_position_embeddings": 64, **config})
    return Result(AutoModelForCausalLM.from_config(attention(made)), "logits", "input_ids", use_cache=False), (tokens(),)


def llama(layers: int = 2) -> Made:
    return decoder("llama", **{**SMALL, "num_hidden_layers": layers}, num_key_value_heads=2)


def gpt2() -> Made:
    return decoder("gpt2", vocab_size=64, n_embd=48, n_layer=3, n_head=4, n_positions=32)


def llama4() -> Made:
    from transformers import Llama4ForCausalLM, Llama4TextConfig
    config = Llama4TextConfig(**{**SMALL, "num_hidden_layers": 4}, **TOKENS, intermediate_size_mlp=128, num_key_value_heads=2, head_dim=16,
                              num_local_experts=4, max_position_embeddings=64, attention_chunk_size=32)
    return Result(Llama4ForCausalLM(attention(config)), "logits", "input_ids", use_cache=False), (tokens(),)


def bert() -> Made:
    from transformers import BertConfig, BertModel
    config = BertConfig(**{**SMALL, "hidden_size": 48, "num_hidden_layers": 3}, max_position_embeddings=32)
    return Result(BertModel(config), "last_hidden_state", "input_ids"), (tokens(),)


def t5() -> Made:
    from transformers import T5Config, T5Model
    config = T5Config(vocab_size=64, d_model=48, d_kv=12, d_ff=96, num_layers=2, num_heads=4, decoder_start_token_id=0)
    return Result(T5Model(config), "last_hidden_state", "input_ids", "decoder_input_ids", use_cache=False), (tokens(), tokens(8))


def whisper() -> Made:
    from transformers import WhisperConfig, WhisperModel
    config = WhisperConfig(vocab_size=64, d_model=48, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                           decoder_attention_heads=4, encoder_ffn_dim=96, decoder_ffn_dim=96, num_mel_bins=16, max_source_positions=50,
                           max_target_positions=32, decoder_start_token_id=1, **TOKENS)
    model = WhisperModel(attention(config))
    sound = torch.linspace(-1, 1, 16 * 100).view(1, 16, 100)
    return Result(model, "last_hidden_state", "input_features", "decoder_input_ids", use_cache=False), (sound, tokens(8))


def wav2vec2() -> Made:
    from transformers import Wav2Vec2Config, Wav2Vec2Model
    config = Wav2Vec2Config(**{**SMALL, "vocab_size": 32, "hidden_size": 48}, conv_dim=(32, 32, 32), conv_stride=(5, 2, 2),
                            conv_kernel=(10, 3, 3), num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)
    return Result(Wav2Vec2Model(config), "last_hidden_state", "input_values"), (torch.linspace(-1, 1, 4000).view(1, 4000).sin(),)


def wav2vec2_position() -> Made:
    conv = nn.Conv1d(768, 768, 128, padding=64, groups=16)
    return nn.utils.parametrizations.weight_norm(conv, dim=2), (torch.randn(1, 768, 40),)


VISION = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32, "patch_size": 8}


def vit() -> Made:
    from transformers import ViTConfig, ViTModel
    return Result(ViTModel(ViTConfig(**VISION)), "last_hidden_state", "pixel_values"), (image(32),)


def swin() -> Made:
    from transformers import SwinConfig, SwinModel
    config = SwinConfig(image_size=56, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=7)
    return Result(SwinModel(config), "last_hidden_state", "pixel_values"), (image(56),)


def beit() -> Made:
    """Its tables of relative positions are written in place, through views of a copy that contiguous makes."""
    from transformers import BeitConfig, BeitModel
    return Result(BeitModel(BeitConfig(**VISION, use_relative_position_bias=True)), "last_hidden_state", "pixel_values"), (image(32),)


def clip() -> Made:
    from transformers import CLIPConfig, CLIPModel
    text = {**SMALL, **TOKENS, "hidden_size": 48, "max_position_embeddings": 32}
    model = CLIPModel(CLIPConfig(text_config=text, vision_config=VISION, projection_dim=32))
    return Result(model, "logits_per_image", "input_ids", "pixel_values"), (tokens(), image(32))


def bf16(made: Made) -> Made:
    return made[0].to(torch.bfloat16), made[1]


def dynamic_shapes(model: Model) -> Any:
    """For torch.export: `free` of a model whose inputs come as *inputs."""
    return (tuple({d: Dim.AUTO for d in dims} for dims in model.free),) if model.free else None


ROPE = {"tolerance": 1e-6, "ulps": 2}
# torch sums the squares of a norm in f32, one after the other (36,864 of them in the convolution: its weights and outputs are 2e-6 to
# 4e-6 off, the fold's 1e-7). So the fold is held to the program in f64, and to torch's f32 only as far as torch itself is exact.
NORM = {"tolerance": 4e-6, "exact": 1e-6, "stays": ("random",), "gone": ("aten._weight_norm*", "aten.linalg_vector_norm*")}
WORDS, BATCH = ((1,),), ((0,),)

STATIC = [
    Model("llama", llama, WORDS, **ROPE),
    Model("llama-bf16", lambda: bf16(llama()), **(ROPE | {"tolerance": 1e-2})),
    Model("llama4", llama4, WORDS, **ROPE),
    Model("qwen3", lambda: decoder("qwen3", **SMALL, num_key_value_heads=2, head_dim=16), WORDS, **ROPE),
    Model("mistral", lambda: decoder("mistral", **SMALL, num_key_value_heads=2, sliding_window=8), WORDS, **ROPE),
    Model("gpt-neox", lambda: decoder("gpt_neox", **SMALL), WORDS, **ROPE),
    Model("gpt2", gpt2, WORDS),
    Model("bert", bert, WORDS),
    Model("t5", t5, ((1,), (1,))),
    Model("whisper", whisper, ((), (1,))),
    Model("wav2vec2", wav2vec2, ((1,),), **NORM),
    Model("wav2vec2-position", wav2vec2_position, **NORM),
    Model("vit", vit, BATCH),
    Model("swin", swin, BATCH),
    Model("beit", beit),
    Model("clip", clip, ((0,), (0,))),
    Model("llama-32", lambda: llama(32), large=True, **(ROPE | {"tolerance": 2e-6})),
]
MODELS = [m for s in STATIC for m in ((replace(s, free=()), replace(s, name=f"{s.name}-dynamic")) if s.free else (s,))]
