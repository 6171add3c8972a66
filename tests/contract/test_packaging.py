"""The wheel holds every package and data file; nothing heavy is imported before it is needed."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = ("agents", "graph_store", "tools", "training", "ui")
HEAVY = (
    "torch", "transformers", "peft", "accelerate", "gguf",
    "gradio", "sklearn", "scipy", "statsmodels", "langgraph", "langchain_core", "spacy",
    "pandas", "xllamacpp", "aiohttp", "matplotlib", "neo4j", "huggingface_hub",
    "tokenizers", "safetensors", "threadpoolctl", "pyarrow", "charset_normalizer",
    "skops", "joblib",
)  # fmt: skip


def _tracked(pattern: str) -> list[Path]:
    return [
        path.relative_to(ROOT)
        for layer in LAYERS
        for path in (ROOT / layer).rglob(pattern)
        if "__pycache__" not in path.parts
    ]


def _project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_every_folder_with_code_is_a_package_of_the_wheel() -> None:
    folders = {".".join(("evenhand", *path.parent.parts)) for path in _tracked("*.py")}
    setuptools = _project()["tool"]["setuptools"]  # type: ignore[index]
    assert set(setuptools["packages"]) == folders


def test_the_wheel_holds_every_data_file(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in (*LAYERS, "pyproject.toml", "README.md"):
        subprocess.run(["cp", "-r", str(ROOT / name), str(source / name)], check=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(source)],
        check=True,
    )
    wheel = next(tmp_path.glob("evenhand-*.whl"))
    inside = {name.removeprefix("evenhand/") for name in zipfile.ZipFile(wheel).namelist()}
    wanted = {
        str(path)
        for path in _tracked("*")
        if (ROOT / path).is_file() and not path.name.endswith((".pyc",))
    }
    assert wanted <= inside
    assert not any(name.startswith(("tests", "bench", "docs")) for name in inside)


def test_the_typing_links_cover_the_five_layers() -> None:
    links = {path.name: path.resolve() for path in (ROOT / ".typing" / "evenhand").iterdir()}
    assert links == {layer: ROOT / layer for layer in LAYERS}


def _modules() -> list[str]:
    found = []
    for path in _tracked("*.py"):
        parts = path.with_suffix("").parts
        found.append(".".join(("evenhand", *(parts[:-1] if parts[-1] == "__init__" else parts))))
    return sorted(found)


def test_no_module_imports_a_heavy_library_at_once() -> None:
    """Imports every module of ours in one fresh process and looks at what came along."""
    screens = "evenhand.ui.screens"
    names = [name for name in _modules() if not name.startswith((screens, "evenhand.ui.app"))]
    code = (
        "import importlib, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"print([heavy for heavy in {HEAVY!r} if heavy in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/"
    )
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("name", _modules())
def test_examples_in_docstrings_hold(name: str) -> None:
    import doctest
    import importlib

    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_no_registry_address_and_no_machine_path_is_tracked() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    forbidden = ("/".join(("", "work", "")), "pypi" + ".org", "--index" + "-url http")
    faults = [
        (name, word)
        for name in listed.split("\0")
        if name and (ROOT / name).is_file() and not (ROOT / name).is_symlink()
        for word in forbidden
        if word in (ROOT / name).read_bytes().decode("utf-8", "replace")
    ]
    assert faults == []
