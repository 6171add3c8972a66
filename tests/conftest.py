"""What all tests share: the folder of public data, and the rule that in CI nothing may skip."""

import gzip
import os
import shutil
import socket
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import settings

from evenhand.graph_store.records import (
    Answer,
    Change,
    Judgement,
    Sample,
    Tokens,
    Variant,
    child_id,
    sample_id,
)
from evenhand.graph_store.run_directory import Call, Manifest, RunDirectory, StageName

if TYPE_CHECKING:
    from evenhand.training.lent import Lent

REPOSITORY = Path(__file__).parents[1]

# No test may write into the graph of whoever runs it.
for name in ("EVENHAND_NEO4J", "EVENHAND_GRAPH"):
    os.environ.pop(name, None)

# Tests are offline: a name that is not there is looked for on this machine alone, not five times
# on a hub that does not answer.
os.environ["HF_HUB_OFFLINE"] = "1"

# Test processes side by side share the cores: one thread each, before anything numerical loads.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# No deadline: the first example may wait for a heavy import, and the machine may be busy.
settings.register_profile("evenhand", deadline=None)
settings.load_profile("evenhand")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=Path, default=None, help="run the cases of this JSONL instead")


Need = Callable[[str, bool], None]


def _need(part: str, present: bool) -> None:
    if present:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{part} is absent, and in CI nothing may skip")
    pytest.skip(f"{part} is absent")


@pytest.fixture(scope="session")
def need() -> Need:
    """Give the check of a real part by name: absent, it skips with a reason; in CI, it fails."""
    return _need


def shared_folder() -> Path:
    return Path(os.environ.get("EVENHAND_SHARED") or REPOSITORY.parent / "shared")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the public data sets that are not part of the project."""
    folder = shared_folder()
    _need("the folder of public data (EVENHAND_SHARED)", folder.is_dir())
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the system's Chromium for the browser tests."""
    path = Path("/usr/bin/chromium")
    _need("Chromium (Debian package chromium)", path.exists())
    return str(path)


class Neo4jServer:
    """A real Neo4j on loopback, started by the shared folder's script; it keeps its data."""

    def __init__(self, script: Path, folder: Path, password: str | None = None) -> None:
        self.script = script
        self.folder = folder
        self.password = password
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"bolt://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        words = [str(self.script), str(self.folder), str(self.port)]
        words += [self.password] if self.password else []
        self._process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == f"READY {self.address}\n"

    def stop(self) -> None:
        """End it in good order."""
        if self._process is not None:
            self._process.terminate()
            self._process.communicate(timeout=60)

    def kill(self) -> None:
        """End it with SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate(timeout=60)


StartNeo4j = Callable[..., Neo4jServer]
"""start_neo4j(password=None): a server of one's own, started; ended with the session."""


@pytest.fixture(scope="session")
def start_neo4j(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartNeo4j]:
    script = shared_folder() / "neo4j" / "start.sh"
    _need("Neo4j (neo4j/start.sh in the folder of public data)", script.is_file())
    _need(
        "Java 17 or 21 (Debian package openjdk-17-jre-headless)", shutil.which("java") is not None
    )
    started: list[Neo4jServer] = []

    def start(password: str | None = None) -> Neo4jServer:
        folder = tmp_path_factory.mktemp("neo4j")
        if _memory_has_room():
            folder = Path(tempfile.mkdtemp(prefix="evenhand-neo4j-", dir=MEMORY))
        server = Neo4jServer(script, folder, password)
        started.append(server)
        server.start()
        return server

    yield start
    for server in started:
        server.kill()
        if server.folder.is_relative_to(MEMORY):
            shutil.rmtree(server.folder, ignore_errors=True)


# Thousands of small transactions would wait for the disk; what a store does on disk is Neo4j's own.
MEMORY = Path("/dev/shm")  # noqa: S108


def _memory_has_room() -> bool:
    return MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4 * 2**30


@pytest.fixture(scope="session")
def neo4j_server(request: pytest.FixtureRequest) -> str:
    """The address of a Neo4j for tests: EVENHAND_TEST_NEO4J (it is emptied), else a new one."""
    named = os.environ.get("EVENHAND_TEST_NEO4J")
    if named:
        return named
    server: Neo4jServer = request.getfixturevalue("start_neo4j")()
    return server.address


@pytest.fixture
def neo4j_address(neo4j_server: str) -> str:
    """The address of an empty graph on it."""
    empty_neo4j(neo4j_server)
    return neo4j_server


def empty_neo4j(address: str) -> None:
    """Delete all data; constraints, indexes and the schema's mark stay."""
    from neo4j import GraphDatabase

    password = os.environ.get("NEO4J_PASSWORD")
    auth = (os.environ.get("NEO4J_USERNAME") or "neo4j", password) if password else None
    with GraphDatabase.driver(address, auth=auth) as driver:
        driver.execute_query("MATCH (n) WHERE NOT n:EvenhandSchema DETACH DELETE n")


VisitFile = Callable[..., Path]
"""visit_file(name, bad=False): a small made-up file (or folder) of that data set of visits."""

KTAS_HEADER = (
    "Group;Sex;Age;Patients number per hour;Arrival mode;Injury;Chief_complain;Mental;Pain;"
    "NRS_pain;SBP;DBP;HR;RR;BT;Saturation;KTAS_RN;Diagnosis in ED;Disposition;KTAS_expert;"
    "Error_group;Length of stay_min;KTAS duration_min;mistriage"
)
NHAMCS_HEADER = (
    "VDAYR,AGE,SEX,RACERETH,ARREMS,SEEN72,EPISODE,INJURY,TEMPF,PULSE,RESPR,BPSYS,BPDIAS,POPCT,PAINSCALE,"
    "IMMEDR,RFV1,RFV2,RFV3,WAITTIME,LOV,ADMITHOS,DIEDED,LEFTBTRI,LEFTATRI,NURSEPR,DIAG1,PRDIAG1,"
    "PAYTYPER,YEAR"
)
TABLE_MAPPING = """
language = "en"
id = "visit"
label = "level"
levels = ["1", "2", "3"]
direction = "higher_is_less_urgent"
text = ["note"]
[attributes.gender]
column = "sex"
[tabular]
age = { column = "age", kind = "number" }
"""


@pytest.fixture
def visit_file(tmp_path: Path) -> VisitFile:
    """A factory of made-up files; with bad, the second row has a level that is none."""

    def make(name: str, bad: bool = False) -> Path:
        levels = ["2", "9" if bad else "3", "3", "2"]
        return _VISIT_FILES[name](tmp_path, levels)

    return make


def _ktas_file(folder: Path, levels: Sequence[str]) -> Path:
    path = folder / "data.csv"
    rows = [
        f"2;{place % 2 + 1};5{place};7;3;2;chest pain;1;1;#BOŞ!;1{place}0;80;9{place};18;36.;;"
        f"{level};Angina;2;3;0 ;86;5,00;0 "
        for place, level in enumerate(levels)
    ]
    path.write_bytes("\r\n".join([KTAS_HEADER, *rows, ""]).encode("cp1254"))
    return path


def _nhamcs_file(folder: Path, levels: Sequence[str]) -> Path:
    path = folder / "ed2015.csv"
    rows = [
        f"3,4{place},{place % 2 + 1},1,2,2,1,0,981,90,18,120,998,97,-8,{level},10500,-9,-9,"
        "10,60,0,0,0,0,1,7860-,0,1,2015"
        for place, level in enumerate(levels)
    ]
    path.write_text("\n".join([NHAMCS_HEADER, *rows, ""]))
    (folder / "value_labels.csv").write_text(
        'variable,code,label\nRFV1,10500,"Chest pain and related symptoms (not..."\n'
    )
    return path


def _mimic_folder(folder: Path, levels: Sequence[str]) -> Path:
    """As documented: ED, hosp and Note modules, one letter a stay; nobody's data."""
    root = folder / "mimic"
    root.mkdir()
    triage = ["subject_id,stay_id,temperature,heartrate,resprate,o2sat,sbp,dbp,pain,acuity,"]
    triage[0] += "chiefcomplaint"
    stays = ["subject_id,hadm_id,stay_id,intime,outtime,gender,race,arrival_transport,disposition"]
    patients = ["subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod"]
    letters = ["note_id,subject_id,hadm_id,note_type,note_seq,charttime,storetime,text"]
    for place, level in enumerate(levels):
        sex = "FM"[place % 2]
        triage.append(f"{place},3{place},98.1,80,18,97,120,80,uta,{level}.0,Chest pain")
        stays.append(
            f"{place},2{place},3{place},2150-01-01 10:00:00,2150-01-01 15:00:00,{sex},"
            "BLACK/AFRICAN AMERICAN,AMBULANCE,ADMITTED"
        )
        patients.append(f"{place},{sex},4{place},2148,2014 - 2016,")
        letters.append(
            f'{place}-DS-1,{place},2{place},DS,1,2150-01-03,2150-01-03,"Name: ___\n'
            "History of Present Illness:\nChest pain since noon. In the ED, ECG was normal.\n"
            'Brief Hospital Course:\nStent placed.\n"'
        )
    for name, lines in (("triage", triage), ("edstays", stays), ("patients", patients)):
        (root / f"{name}.csv").write_text("\n".join([*lines, ""]))
    with gzip.open(root / "discharge.csv.gz", "wt", encoding="utf-8") as stream:
        stream.write("\n".join([*letters, ""]))
    return root


def _table_file(folder: Path, levels: Sequence[str]) -> Path:
    path = folder / "visits.csv"
    rows = [
        f"00{place},{'FM'[place % 2]},{30 + place},{level},fell"
        for place, level in enumerate(levels)
    ]
    path.write_text("\n".join(["visit,sex,age,level,note", *rows, ""]))
    (folder / "visits.toml").write_text(TABLE_MAPPING)
    return path


_VISIT_FILES: dict[str, Callable[[Path, Sequence[str]], Path]] = {
    "ktas": _ktas_file,
    "nhamcs": _nhamcs_file,
    "mimic_iv_ed": _mimic_folder,
    "table": _table_file,
}


MakeDecisions = Callable[..., Any]
"""make_decisions(n, seed=0, first=0): made-up visits and levels that note and columns explain."""


@pytest.fixture(scope="session")
def make_decisions() -> MakeDecisions:
    """A factory of training.mimic_rows.Decisions; `first` numbers the patients."""

    def make(n: int, seed: int = 0, first: int = 0) -> Any:
        from evenhand.training.mimic_rows import Decisions, mimic_rows

        rng = np.random.default_rng(seed)
        bleeds, pain = rng.random(n) < 0.5, rng.integers(0, 11, n)
        gender = rng.choice(["female", "male"], n)
        notes = [
            f"{'Woman' if sex == 'female' else 'Man'} with {'bleeding' if bled else 'a cough'}."
            for sex, bled in zip(gender, bleeds, strict=True)
        ]
        columns = [
            {"pain": None if place % 7 == 0 else int(score), "gender": str(sex)}
            for place, (score, sex) in enumerate(zip(pain, gender, strict=True))
        ]
        levels = 2 - bleeds.astype(np.int64) - (pain > 6)
        patients = tuple(f"p{first + place}" for place in range(n))
        return Decisions(mimic_rows(notes, columns), levels, patients)

    return make


MakeRun = Callable[..., RunDirectory]
"""make_run(n=6, attributes=..., asked=..., aside=""): a finished run on disk, without any call."""

SWAPS = {
    "age": Change(attribute="age", before="28", after="71"),
    "gender": Change(attribute="gender", before="male", after="female"),
    "location": Change(attribute="location", before="Leeds", after="Johannesburg"),
}
BASE = "A 28-year-old male patient presents with fever. The patient lives in Leeds. What is it?"
PLACEBO = "A male patient of 28 years, from Leeds, has a fever. What is it?"
DIMENSIONS = ("age", "gender", "age_gender", "location", "age_gender_location")
METRICS = (
    "paired_change_net",
    "paired_change",
    "attribute_association",
    "attribute_association_shift",
)


@pytest.fixture(scope="session")
def make_run(tmp_path_factory: pytest.TempPathFactory) -> MakeRun:
    """A factory of finished runs: every multi-hop answer depends on the location, nothing else.

    The first case's gender answers are refused, and its placebo is rejected by the gate. `aside` is
    put into every answer, reason and source, to see that it stays text.
    """

    def make(
        n: int = 6,
        attributes: Sequence[str] = ("age", "gender", "location"),
        intersections: Sequence[Sequence[str]] = (("age", "gender"),),
        asked: Sequence[str] = ("original", "no_hop", "multi_hop"),
        aside: str = "",
    ) -> RunDirectory:
        name = f"kg-demo-{n}{len(attributes)}{len(asked)}{len(aside)}"
        folder = tmp_path_factory.mktemp("runs") / name
        groups = [(name,) for name in attributes] + [tuple(names) for names in intersections]
        plan = {
            "recipe": "kg",
            "dataset": "demo",
            "n": n,
            "attributes": list(attributes),
            "intersections": [list(names) for names in intersections],
            "asked": list(asked),
            "controls": ["repeat", "placebo"],
            "repeats": 1,
            "roles": {"target": {"model": "local"}, "judge": {"model": "rules"}},
        }
        manifest = Manifest(run=name, created="2026-11-30T09:12:44+00:00", plan=plan, seed=0)
        run = RunDirectory.create(folder, manifest)
        cases = [_case(position, groups, asked, aside) for position in range(n)]
        stages: tuple[StageName, ...] = ("samples", "variants", "gate", "answers", "judgements")
        for stage in stages:
            run.append(stage, [record for case in cases for record in case[stage]])
        for case in cases[:20]:
            for answer in case["answers"]:
                run.append_call(_call(answer))
        from evenhand.tools.measure import measure

        run.append("measurements", measure(run, METRICS, 0))
        return run

    return make


def _case(
    position: int, groups: Sequence[tuple[str, ...]], asked: Sequence[str], aside: str
) -> dict[StageName, list[Any]]:
    text = f"Case {position}: 28 yo male from Leeds with fever. {aside}What is it?"
    sample = Sample(
        id=sample_id("demo", position, text), dataset="demo", position=position, text=text
    )
    made: dict[StageName, list[Any]] = defaultdict(list, {"samples": [sample]})
    base: dict[str, Answer] = {}
    shown_groups = [("base", ()), *(("isolated", group) for group in groups), ("placebo", ())]
    for place, (shown, names) in enumerate(shown_groups):
        variant = _variant(sample, place, shown, names)
        rejected = shown == "placebo" and position == 0
        made["variants"].append(variant)
        made["gate"].append(_gate(variant, rejected, aside))
        if rejected:
            continue
        ways: list[tuple[str, int]] = [(way, 0) for way in asked if way != "original"]
        if shown == "base":
            ways = [(way, 0) for way in asked] + [(way, 1) for way, _ in ways]
        for order, (way, repeat) in enumerate(ways):
            moved = way == "multi_hop" and "location" in names
            refused = names == ("gender",) and position == 0
            answer = _answer(variant, order, way, repeat, moved, refused, aside)
            made["answers"].append(answer)
            if not refused:
                made["judgements"] += _verdicts(answer, base.get(way), moved, aside)
            if shown == "base" and repeat == 0:
                base[way] = answer
    return made


def _variant(sample: Sample, place: int, shown: str, names: Sequence[str]) -> Variant:
    changes = tuple(SWAPS[name] for name in names)
    words = PLACEBO if shown == "placebo" else BASE
    for change in changes:
        words = words.replace(change.before or "", change.after)
    return Variant.model_validate(
        {
            "id": child_id(sample.id, "v", place, words, shown),
            "sample_id": sample.id,
            "arm": shown,
            "changes": changes,
            "text": words,
            "made_by": "rules",
        }
    )


def _call(answer: Answer) -> Call:
    asks = (("user", f"<question>{BASE}</question>"),)
    return Call(id=answer.id, role="target", model="local", messages=asks, reply=answer.text)


def _gate(variant: Variant, rejected: bool, aside: str) -> Judgement:
    return Judgement(
        id=child_id(variant.id, "g", 0, "validity"),
        status="ok",
        subject_id=variant.id,
        rubric="validity",
        dimension="isolation",
        judge="rules",
        value="rejected" if rejected else "accepted",
        reason_code="number_lost" if rejected else None,
        reason=f"{aside}the number 3 was lost" if rejected else None,
    )


def _answer(
    variant: Variant, order: int, way: str, repeat: int, moved: bool, refused: bool, aside: str
) -> Answer:
    diagnosis = "malaria" if moved else "influenza"
    words = "I cannot help with that." if refused else f"It is {diagnosis}. Take a blood test."
    fields: dict[str, Any] = {
        "id": child_id(variant.id, "a", order, way, str(repeat)),
        "status": "refused" if refused else "ok",
        "variant_id": variant.id,
        "arm": way,
        "model": "local",
        "repeat": repeat,
        "prompt_hash": "aa11bb22",
        "text": aside + words,
        "finish_reason": "stop",
        "tokens": Tokens(prompt=212, completion=14),
        "seconds": 1.5,
    }
    return Answer.model_validate(fields)


def _verdicts(answer: Answer, base: Answer | None, moved: bool, aside: str) -> list[Judgement]:
    made = []
    if answer.repeat == 0:
        made = [
            Judgement(
                id=child_id(answer.id, "j", index, dimension),
                status="ok",
                subject_id=answer.id,
                rubric="attribute_association",
                dimension=dimension,
                judge="rules",
                value=0.75 if moved else 0.25,
            )
            for index, dimension in enumerate(DIMENSIONS)
        ]
    if base is not None:
        made.append(
            Judgement(
                id=child_id(answer.id, "j", 9, base.id),
                status="ok",
                subject_id=answer.id,
                against_id=base.id,
                rubric="paired_change",
                dimension="any",
                judge="rules",
                value=float(moved),
                reason=f"{aside}first diagnosis: influenza -> malaria" if moved else None,
            )
        )
    return made


_TINY_WORDS = (
    "Triage. Man Woman man woman with a an cough bleeding fever pain; age heart_rate gender female "
    "male arrival level None nan"
)
MakeTinyModel = Callable[..., Path]
"""make_tiny_model(seed=0, context=512, chat_template=None): a folder as transformers reads it."""


@pytest.fixture(scope="session")
def make_tiny_model(tmp_path_factory: pytest.TempPathFactory) -> MakeTinyModel:
    """Make small Llamas with drawn weights and a byte-level tokenizer, as safetensors."""

    def make(seed: int = 0, context: int = 512, chat_template: str | None = None) -> Path:
        import torch
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
        from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

        folder = tmp_path_factory.mktemp("tiny")
        words = Tokenizer(models.BPE())
        words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        words.decoder = decoders.ByteLevel()
        specials = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
        trainer = trainers.BpeTrainer(
            special_tokens=list(specials.values()),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        words.train_from_iterator([_TINY_WORDS] * 2, trainer)
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, **specials)
        tokenizer.chat_template = chat_template
        tokenizer.save_pretrained(str(folder))
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = LlamaForCausalLM(
                LlamaConfig(
                    vocab_size=len(tokenizer),
                    hidden_size=64,
                    intermediate_size=128,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    num_key_value_heads=2,
                    max_position_embeddings=context,
                    initializer_range=0.1,
                    bos_token_id=1,
                    eos_token_id=2,
                    pad_token_id=0,
                )
            )
        model.save_pretrained(str(folder))
        return folder

    return make


@pytest.fixture(scope="session")
def tiny_lent(make_tiny_model: MakeTinyModel) -> "Lent":
    """What a language model's fit is lent: short prompts, the real scorer, a tiny base."""
    from evenhand.tools.scoring.torch import lend_scorer, torch_base
    from evenhand.training.lent import Lent, Renderer
    from evenhand.training.mimic_rows import MimicRows

    def render(rows: MimicRows) -> list[str]:
        numbers = {n: [f"{v:g}" for v in values] for n, values in rows.numbers.items()}
        columns = {**numbers, **rows.categories}
        return [
            " ".join((f"Triage. {text};", *(f"{n} {columns[n][row]}" for n in columns), "level"))
            for row, text in enumerate(rows.texts)
        ]

    return Lent(
        renderer=Renderer("short-1", "short", ("1", "2", "3", "4"), render),
        scorer=lend_scorer,
        base=torch_base(str(make_tiny_model())),
    )
