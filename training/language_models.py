"""Causal language models of transformers, opened alike for training and for scoring.

A fault of the files is one sentence: what is missing or damaged, and what to do. Nothing in a
model's folder is executed: no remote code, and weights as safetensors or GGUF only.
"""

import contextlib
import importlib.util
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.graph_store.errors import UserError
from evenhand.training.label_tokens import HubTokenizer
from evenhand.training.lent import TorchBase


@dataclass(frozen=True)
class LanguageModel:
    """A model with its tokenizer.

    Attributes:
        model: Causal language model of transformers, in evaluation mode.
        hub_tokenizer: As transformers gives it.
        tokenizer: The same, as prompts are encoded with it.
        base: What was opened.
        device: Where it lies.
    """

    model: Any
    hub_tokenizer: Any
    tokenizer: HubTokenizer
    base: TorchBase
    device: str

    @property
    def pad(self) -> int:
        """Id that fills up a batch; it is masked, so any will do where the tokenizer has none."""
        return int(self.hub_tokenizer.pad_token_id or self.hub_tokenizer.eos_token_id or 0)

    def with_model(self, adapted: Any, *, merge: bool) -> "LanguageModel":
        """Return the same with a model that has an adapter.

        Args:
            adapted: PeftModel.
            merge: Add the adapter to the weights: nothing is slower then. Weights in 4 bits would
                be rounded anew, so there it stays beside them.
        """
        model = adapted.merge_and_unload() if merge else adapted.get_base_model()
        return replace(self, model=model.eval())


def choose_device(wished: str) -> tuple[str, str]:
    """Return the device, and a sentence that says so.

    Args:
        wished: "auto" (CUDA where there is one), "cpu", "cuda", "cuda:1".

    Raises:
        UserError: A device that this machine, or this build of torch, does not have.
    """
    import torch

    cuda = torch.cuda.is_available()
    if wished == "auto":
        wished = "cuda" if cuda else "cpu"
        why = "" if cuda else " (no CUDA device is present)"
    else:
        why = ""
    if wished.partition(":")[0] not in ("cpu", "cuda"):
        raise UserError(f"Device {wished!r} is unknown; expected auto, cpu, cuda or cuda:<number>.")
    if wished.startswith("cuda"):
        number = int(wished.partition(":")[2] or 0)
        if not cuda or number >= torch.cuda.device_count():
            raise UserError(
                f"Device {wished!r} is not present (torch {torch.__version__} sees "
                f"{torch.cuda.device_count() if cuda else 0} CUDA devices); use --device cpu."
            )
        return wished, f"Runs on {wished}, {torch.cuda.get_device_name(number)}."
    return "cpu", f"Runs on the CPU with {torch.get_num_threads()} threads{why}."


def open_language_model(
    base: TorchBase,
    *,
    device: str = "cpu",
    dtype: str = "float32",
    adapter: Path | None = None,
    four_bit: bool = False,
) -> LanguageModel:
    """Load a model, its tokenizer and, where one is named, a LoRA adapter that is merged into it.

    Args:
        base: What to load.
        device: As `choose_device` returns it.
        dtype: "float32" or "bfloat16".
        adapter: Folder of the adapter.
        four_bit: Keep the weights in 4 bits, as `four_bit_here` allows; an adapter then stays
            beside them.

    Raises:
        UserError: Files are missing or damaged, there is no tokenizer, no memory is left, or the
            adapter was trained on another base.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = {"gguf_file": base.gguf_file} if base.gguf_file else {}
    common = {**where, "revision": base.revision, "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(base.path, **common)
    except Exception as error:
        raise UserError(
            f"Model {base.name!r} has no tokenizer that can be loaded ({_first_line(error)}); "
            "expected tokenizer.json beside the weights: download the whole model again, or name "
            "another."
        ) from None
    kind = {"float32": torch.float32, "bfloat16": torch.bfloat16}[dtype]
    weights: dict[str, Any] = {} if base.gguf_file else {"use_safetensors": True}
    if four_bit:
        weights |= {"quantization_config": _four_bit_config(), "device_map": {"": device}}
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(
            base.path, dtype=kind, **weights, **common
        )
        model = model if four_bit else model.to(device)
    except Exception as error:
        raise _load_fault(base, error) from None
    if base.gguf_file:
        _forget_quantisation(model)
    if adapter is not None:
        model = _with_adapter(model, adapter, base, merge=not four_bit)
    model.eval()
    return LanguageModel(model, tokenizer, HubTokenizer(tokenizer, base.name), base, device)


def four_bit_here(base: TorchBase, device: str, *, wished: bool) -> tuple[bool, str]:
    """Return whether weights are kept in 4 bits, and a sentence where they are wished and are not.

    Raises:
        UserError: bitsandbytes is not installed where it would be used.
    """
    if not wished:
        return False, ""
    if not device.startswith("cuda"):
        return False, "Weights are plain: 4 bits need a CUDA device."
    if base.gguf_file:
        return False, "Weights are plain: those of a GGUF file are not kept in 4 bits."
    if importlib.util.find_spec("bitsandbytes") is None:
        raise UserError(
            "4 bits on CUDA need bitsandbytes; install it (pip install bitsandbytes), or fit with "
            "plain weights (--plain)."
        )
    return True, ""


def _four_bit_config() -> Any:
    """The counterfactual paper's 4 bits, as QLoRA has them: nf4, computed in bfloat16."""
    import torch
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
    )


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that no memory is left, on the CPU or on a GPU."""
    if isinstance(error, MemoryError):
        return True
    said = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in said or "can't allocate memory" in said or "not enough memory" in said
    )


def _forget_quantisation(model: Any) -> None:
    """Weights from GGUF are plain by now; the note that they were not forbids saving them."""
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    if hasattr(model, "hf_quantizer"):
        model.hf_quantizer = None
    model.is_quantized = False


def _load_fault(base: TorchBase, error: Exception) -> Exception:
    if is_out_of_memory(error):
        return UserError(
            f"There is no memory left to load {base.name!r}; use a smaller model, a machine with "
            "more memory, or --dtype bfloat16 on a GPU."
        )
    return UserError(
        f"Model {base.name!r} cannot be loaded ({_first_line(error)}); expected a causal language "
        "model of transformers with whole safetensors or GGUF files: a download that was cut must "
        "be deleted and made again."
    )


def _with_adapter(model: Any, adapter: Path, base: TorchBase, *, merge: bool) -> Any:
    from peft import PeftModel

    if not (adapter / "adapter_config.json").is_file():
        raise UserError(
            f"{adapter} holds no adapter_config.json; expected the folder of a LoRA adapter."
        )
    try:
        with quiet_peft():
            adapted = PeftModel.from_pretrained(model, str(adapter))
        return adapted.merge_and_unload() if merge else adapted.get_base_model()
    except Exception as error:
        raise UserError(
            f"Adapter {adapter.name!r} does not fit {base.name!r} ({_first_line(error)}); it was "
            "trained on another base: name that one."
        ) from None


@contextlib.contextmanager
def quiet_peft() -> Iterator[None]:
    """Keep back warnings of names that peft itself, not its user, reads from transformers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
