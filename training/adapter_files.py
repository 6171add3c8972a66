"""A LoRA adapter as peft and vLLM read it: adapter_model.safetensors and adapter_config.json."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.training.language_models import LanguageModel

WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"


@dataclass(frozen=True)
class Adapter:
    """An adapter as it is written: peft's configuration and its tensors."""

    config: dict[str, Any]
    weights: dict[str, Any]

    def save(self, folder: Path) -> None:
        """Write both files into a folder that exists."""
        from safetensors.torch import save_file

        save_file(self.weights, folder / WEIGHTS, metadata={"format": "pt"})
        text = json.dumps(self.config, indent=2, sort_keys=True) + "\n"
        (folder / CONFIG).write_text(text, "utf-8")


def adapter_of(model: Any, opened: LanguageModel) -> Adapter:
    """Return the adapter of a PeftModel, which names the base that was opened.

    Weights in GGUF have no folder that peft could load: there the base stands by its name.
    """
    from peft import get_peft_model_state_dict

    config = model.peft_config["default"].to_dict()
    config = {
        name: sorted(value) if isinstance(value, set) else value for name, value in config.items()
    }
    base = opened.base.path if opened.base.gguf_file is None else opened.base.name
    weights = {
        name: each.detach().cpu().contiguous().clone()
        for name, each in get_peft_model_state_dict(model).items()
    }
    return Adapter(config | {"base_model_name_or_path": base, "inference_mode": True}, weights)
