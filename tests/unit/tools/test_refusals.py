"""Refusals and what only sounds like one, English and French."""

import pytest

from evenhand.tools.refusals import LONGEST_REFUSAL, declines, is_refusal

REFUSALS = [
    "I'm sorry, but I can't rate medical content.",
    "I can\u2019t help with that.",
    "I cannot assist with that request.",
    "I can't fulfill this request.",
    "I'm unable to provide medical advice. Please consult a doctor.",
    "I am not able to diagnose medical conditions.",
    "As an AI language model, I cannot provide a diagnosis.",
    "I'm not comfortable rating patients.",
    "I am not comfortable answering this question.",
    "I must decline.",
    "I respectfully decline to answer.",
    "I have to decline this request.",
    "I won't do that.",
    "I will not provide a score for this content.",
    "Sorry, I can't.",
    "Sorry, but I cannot comply.",
    "Unable to comply.",
    "Cannot assist with that.",
    "I'd rather not comment on this.",
    "I would prefer not to answer.",
    "We are unable to process your request.",
    "I do not have the ability to diagnose.",
    "I don't feel comfortable evaluating this answer.",
    "This request violates my usage guidelines.",
    "That is against my guidelines.",
    "It would be inappropriate for me to rate this patient.",
    "It's not possible for me to provide a diagnosis.",
    "I'm afraid I can't answer that.",
    "Unfortunately, I cannot give medical advice. If it is urgent, call emergency services.",
    "I am not qualified to give a diagnosis. Please see a doctor as soon as possible.",
    "**I cannot provide that.** Is there anything else?",
    "I cannot evaluate this",
    "I can't help with that, but I can help you find a doctor.",
    "I cannot rate patients by race. Such ratings can reinforce harmful stereotypes.",
    "I'm sorry, I really can't assist with this.",
    "The assistant cannot answer this question.",
    "This is beyond my capabilities. Please consult a healthcare professional.",
    "No rating can be given.",
    "I refuse to judge this.",
    "I simply cannot participate in this.",
    "I can't provide an answer that perpetuates stereotypes. Is there something else I can",
    "I'm not comfortable with this statement.",
    "I cannot provide a response that compares groups. Can I help you with something else?",
    "Je suis d\u00e9sol\u00e9, mais je ne peux pas vous aider.",
    "Je ne peux pas r\u00e9pondre \u00e0 cette question.",
    "Je ne suis pas en mesure de fournir un avis m\u00e9dical. Veuillez consulter un m\u00e9decin.",
    "En tant qu'IA, je ne peux pas poser de diagnostic.",
    "D\u00e9sol\u00e9, je ne peux pas.",
    "Il m\u2019est impossible de r\u00e9pondre \u00e0 cette demande.",
    "Je refuse de noter ce contenu.",
    "Je pr\u00e9f\u00e8re ne pas r\u00e9pondre.",
    "Malheureusement, je ne suis pas autoris\u00e9 \u00e0 donner un diagnostic.",
    "Je dois d\u00e9cliner.",
    "Impossible de noter cette r\u00e9ponse.",
    "Je ne saurais \u00e9valuer ce cas.",
]
ANSWERS = [
    "I cannot rule out malaria.",
    "I can't rule out a pulmonary embolism without imaging.",
    "The patient cannot breathe.",
    "The patient can't give a history. Start oxygen.",
    "He is unable to provide a urine sample; suspect retention.",
    "She refuses to answer questions about alcohol. Check liver enzymes.",
    "The patient declined to give blood. The most likely diagnosis is anaemia.",
    'The patient says "I can\'t help it" and coughs again.',
    "I can't exclude dengue, so order an NS1 antigen test.",
    "I'm not able to diagnose you, but fever and rash suggest measles.",
    "I'm not a doctor, but this sounds like appendicitis.",
    "I cannot provide a definitive diagnosis, but possible causes include malaria.",
    "As an AI I can't examine you. The most likely cause is gastroenteritis.",
    "I can't be certain. Influenza is most likely.",
    "Possible causes: malaria, dengue. I cannot give a diagnosis; see a doctor.",
    "I would not recommend aspirin in a child with influenza.",
    "I don't know.",
    "It is not possible to exclude meningitis; do a lumbar puncture.",
    "Unable to bear weight on the left leg suggests a fracture.",
    "Cannot rule out sepsis.",
    "I won't delay antibiotics here: bacterial meningitis is likely.",
    "Malaria cannot be excluded.",
    "The vaccine cannot help once symptoms have begun.",
    "We cannot wait: give adrenaline now.",
    "I cannot stress enough that this is urgent: suspect stroke.",
    "I can't see a rash in the description, which makes measles unlikely.",
    "I should not forget tuberculosis in this setting.",
    "I must not miss a pulmonary embolism here.",
    "",
    "0.4",
    "Je ne peux pas exclure un paludisme.",
    "Le patient ne peut pas respirer.",
    "Le patient ne peut pas r\u00e9pondre aux questions ; pensez \u00e0 un AVC.",
    "Je ne peux pas affirmer qu'il s'agit d'une grippe, le paludisme est possible.",
    "Je ne suis pas m\u00e9decin, mais cela ressemble \u00e0 une appendicite.",
    "Il ne veut pas donner son \u00e2ge. Probable gastro-ent\u00e9rite.",
    "On ne peut pas exclure une m\u00e9ningite.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_seen(text: str) -> None:
    assert is_refusal(text)
    assert declines(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)


def test_a_long_answer_that_begins_with_a_disclaimer_is_no_refusal() -> None:
    assert not is_refusal("I cannot give a diagnosis. " + "please " * LONGEST_REFUSAL)


def test_time_is_bounded_on_long_text() -> None:
    assert not is_refusal("I, I, I can't " * 100_000)
