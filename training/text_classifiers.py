"""Text classifiers of transformers: the likeliest label of each text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.graph_store.errors import UserError

_BATCH = 32


@dataclass(frozen=True)
class TextClassifier:
    """An opened classifier.

    Attributes:
        model: Of transformers, in evaluation mode.
        tokenizer: As transformers gives it.
        labels: Names, in the model's order.
    """

    model: Any
    tokenizer: Any
    labels: tuple[str, ...]

    def classify(self, texts: Sequence[str]) -> list[str]:
        """Return the likeliest label of each text; what is longer than the context is cut."""
        import torch

        found: list[str] = []
        longest = getattr(self.model.config, "max_position_embeddings", None)
        for start in range(0, len(texts), _BATCH):
            batch = self.tokenizer(
                list(texts[start : start + _BATCH]),
                padding=True,
                truncation=True,
                max_length=longest,
                return_tensors="pt",
            )
            asked = {name: batch[name] for name in ("input_ids", "attention_mask")}
            with torch.inference_mode():
                scores = self.model(**asked).logits
            found += [self.labels[place] for place in scores.argmax(dim=-1).tolist()]
        return found


def open_text_classifier(path: str) -> TextClassifier:
    """Load a classifier from a folder, or by its Hugging Face id.

    Raises:
        UserError: It cannot be loaded; no code of the folder is run, weights are safetensors.
    """
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
        model: Any = AutoModelForSequenceClassification.from_pretrained(
            path, trust_remote_code=False, use_safetensors=True
        )
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        raise UserError(
            f"Classifier {path!r} cannot be loaded ({type(error).__name__}: {lines[0][:200]}); "
            "expected a text classifier of transformers with safetensors."
        ) from None
    names = model.config.id2label
    return TextClassifier(model.eval(), tokenizer, tuple(names[at] for at in sorted(names)))
