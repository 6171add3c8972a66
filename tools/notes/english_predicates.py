"""What English notes say of people, by pattern: who speaks, cares, is ill, and how clauses join."""

import re

STAFF = (
    r"(?:dr|doctor|physician|nurse|gp|pcp|cardiologist|surgeon|neurologist|paramedics?|medic"
    r"|therapist|dentist|pediatrician|specialist|psychiatrist)"
)
NEUTRAL = re.compile(
    rf"\b(?:{STAFF}|partner|spouse|neighbou?r|friend|roommate|flatmate|housemate|cousin|colleague"
    r"|co-?worker|boss|caregiver|carer|teacher|parent|sibling|witness|bystander|driver)\b",
    re.IGNORECASE,
)
SAYS = (
    r"(?:reports?|reported|says?|said|states?|stated|notes?|noted|notice[sd]?|mentions?|mentioned"
    r"|thinks?|thought|describes?|described|believes?|confirms?|confirmed|claims?|tells?|told"
    r"|denie[sd]|feels|felt|adds?|added|recalls?|complains?|complained|insists?|explains?|informs?"
    r"|worrie[sd]|insisted|reckons?|reckoned|suspects)"
)
ACTS = (
    r"(?:called|calls|dialled|phoned|brought|drove|found|helped|tried|started|performed|gave|thinks"
    r"|also|witnessed|heard|saw|held|took|ran|carried|lives|works)"
)
STAFF_ACTS = (
    r"(?:suspect\w*|quer\w+|wants|requests|did|checked|took|removed|put|asked|recommend\w*"
    r"|advise[sd]?|prescribe[sd]?|order(?:ed|s)"
    r"|refer(?:red|s)|examine[sd]?"
    r"|suggest\w*|told|asked|increased|diagnosed|performed|reviewed|wrote|called)"
)
CALLER = re.compile(rf"\s+(?:also\s+|then\s+|has\s+|had\s+)?(?:{SAYS}|{ACTS})\b", re.IGNORECASE)
STAFF_VERB = re.compile(rf"\s+(?:also\s+|then\s+|has\s+|had\s+)?{STAFF_ACTS}\b", re.IGNORECASE)
SAW = re.compile(
    r"\s+(?:also\s+|then\s+|has\s+|had\s+)?(?:notice[sd]?|found|finds|called|calls|heard"
    r"|saw|witnessed"
    r"|brought|drove|thinks|gave|gives|helped|tried|told|is concerned|is worried|was worried)\b",
    re.IGNORECASE,
)
HISTORY = re.compile(
    r"(?:'s)?\s+(?:also\s+)?(?:has|had|have|died|with(?!\s(?:him|her|pt|patient))|suffers"
    r"|was diagnosed|takes"
    r"|is (?:alive|healthy|well))\b"
)
DIED = re.compile(
    r"\s+(?:also\s+)?(?:died|passed|was \d+|is \d+|is a (?:nurse|doctor|gp|paramedic|vet|carer)"
    r"|is (?:dead|deceased|alive|healthy))\b"
)
WORRIED = re.compile(
    r"\s+(?:is|was|has been|are)\s+(?:very\s+|quite\s+|so\s+)?(?:worried|concerned|afraid|unsure"
    r"|not sure|certain|anxious|scared|upset|not aware)\b",
    re.IGNORECASE,
)
FOR_PATIENT = re.compile(
    r"\s+(?:POA|HCP|DPOA|proxy|health care proxy|healthcare proxy|power of attorney"
    r"|emergency contact"
    r"|caregiver|caretaker|guardian|carer)\b",
    re.IGNORECASE,
)
ACTS_ON = re.compile(
    r"[^.,;:]*\b(?:him\b|her\b(?=\s*(?:[.,;:]|$|(?:for|to|in|on|at|with|up|out|from|and|by)\b)))",
    re.IGNORECASE,
)
KIN_NEXT = re.compile(
    r"\s+(?:[\w-]+\s)?(?:mother|father|brothers?|sisters?|sons?|daughters?|wife|husband|mom|mum|dad"
    r"|uncle|aunt|grandmother|grandfather|nephew|niece|parents|partner|girlfriend|boyfriend|family"
    r"|cousin|fiancée?|stepfather|stepmother)\b(?!['\u2019]s)",
    re.IGNORECASE,
)
BY = re.compile(
    r"\b(?:by|with|to|from|for|per|of|and|via|against|saw|visited|called|told|helping|including"
    r"|caring for|than)\s+(?:(?:his|her|the|an?|their|both)\s+)?(?:[\w-]+\s+){0,2}$",
    re.IGNORECASE,
)
CONNECTIVE = re.compile(
    r"\b(?:because|after|when|as|for|since|and|while|where|but|until|before|so|if|although|though"
    r"|with|due|following|once|then)\b|[,:(\u2013\u2014]",
    re.IGNORECASE,
)
JOINS = re.compile(
    r"\b(?:because|after|when|as|for|since|and|while|where|but|until|before|so|if|with|due"
    r"|following"
    r"|once|then)\b",
    re.IGNORECASE,
)
WHO = re.compile(r"^\s*(?:\([^)]*\))?,?\s*(?:who|that)\b", re.IGNORECASE)
SAYS_WORD = re.compile(rf"\b{SAYS}\b(?:\s+that)?\s*(?:[\w\s,]*)$", re.IGNORECASE)
RIGHT_AFTER_SAYS = re.compile(
    rf"\b{SAYS}\b(?:\s+(?:that|how|when|EMS|staff|us|the\s\w+|\w+(?=\sthat))){{0,2}}\s*$",
    re.IGNORECASE,
)
MALE = ("he", "him", "his", "himself")
CARES = (
    r"(?:saw|sees|has seen|found|finds|heard|gave|gives|has given|had given|brought|drove|took|put"
    r"|picked|carried|caught|(?:previously |now )?breastfeeds|(?:previously )?breastfed|feeds"
    r"|helped|held|noticed|watched|changed|bathed|woke|fed|tried|called|rang"
    r"|has rung|lifted|pulled|laid|left|checked on|checked|went to wake|was feeding|was changing"
    r"|was bathing|could not wake|couldn['\u2019]t wake|cannot wake|can['\u2019]t wake|did not see"
    r"|didn['\u2019]t see|never saw|last saw|was holding|dropped|cares for|looks after)"
)
CARES_FOR = re.compile(
    rf"\s+(?:also\s+|then\s+|only\s+|just\s+)?{CARES}\s(?:[\w-]+\s){{0,2}}?(?:him\b"
    rf"|her\b(?!\s(?:own|his|her)\b)"
    r"|(?:the\s)?(?:pt|patient)\b)",
    re.IGNORECASE,
)
SICK = re.compile(
    r"\s+(?:also\s+|then\s+|still\s+|now\s+|just\s+|suddenly\s+|has\s+|had\s+|has been\s+"
    r"|had been\s+|is\s+|was\s+)*"
    r"(?:vomit\w*|threw up|throwing up|spat|fell|fallen|collapsed?|slipped|tripped|fainted"
    r"|passed out|blacked out"
    r"|c/o|complain\w*|denies|denied|woke|unable|in pain|in distress|short of breath|sob\b"
    r"|breathless|alert|oriented"
    r"|confused|drowsy|sleepy|lethargic|unresponsive|unconscious|unwell|pale|crying|playing"
    r"|coughing|wheez\w+"
    r"|fitting|seizing|shaking|bleeding|feverish|febrile|afebrile|hot|refus\w+|not eating|eating"
    r"|drinking"
    r"|smiling|limping|irritable|floppy|dizzy|nauseous|nauseated|found|brought|on the floor|hit"
    r"|struck|bitten"
    r"|stung|burnt|burned|stabbed|knocked|thrown|swallowed|ate|drank|felt|feels|cried|stopped"
    r"|went (?:floppy|blue|stiff|limp)"
    r"|landed|hurt|cut|injured|not (?:moving|responding|breathing|himself|herself|feeding"
    r"|tolerating)"
    r"|cannot|can['\u2019]t|could not|couldn['\u2019]t|did not|didn['\u2019]t|won['\u2019]t"
    r"|hasn['\u2019]t"
    r"|more (?:confused|drowsy|sleepy|breathless)|acting|talking|breathing|walking|sitting"
    r"|sleeping)\b",
    re.IGNORECASE,
)
STAFF_ONLY = re.compile(
    r"\s+(?:also\s+|then\s+|has\s+|had\s+|will\s+|would\s+like\s+to\s+|wanted\s+to\s+"
    r"|wants\s+to\s+)?"
    r"(?:(?:suspect|quer|recommend|advis|prescrib|request|order|refer|examin|suggest|diagnos"
    r"|review)\w+"
    r"|accepts?|accepted|review|asked\s(?:for\s(?:a\s)?(?:review|bloods|repeat)|us)"
    r"|wants\s(?:him|her|pt|them)\s\w+(?:ed|en|in)\b|is\shappy\s(?:for|to)\b|re-?check(?:ed)?"
    r"|see\s(?:him|her|them|pt)\b)",
    re.IGNORECASE,
)
"""What a doctor does, and a patient does not."""
ANSWERS = re.compile(
    r"\s+(?:has|had|did|does|is|was|could|can)?\s*(?:already|declined?s?|refus\w+|agreed"
    r"|not\s(?:come|take|go|want|know))\b",
    re.IGNORECASE,
)
SAYS_OF_PARENT = re.compile(
    r"\s+(?:says|said|states|reports|thinks)\s(?:that\s)?(?:his|her)\s(?:dad|father|mum|mom"
    r"|mother)\b",
    re.I,
)
WORRY_AS = re.compile(
    r"^\s(?:is\s|was\s|very\s|also\s)*(?:worried|concerned|anxious)\s(?:as|that|because|since)\s$",
    re.I,
)
NOT_OWN_WORRY = re.compile(
    r"\s+(?:cannot|can['\u2019]t|can no|lives|works|has to|will|would|is (?:going|leaving|away"
    r"|at|not able|unable)"
    r"|does not know|doesn['\u2019]t know|has never|found|saw|noticed|heard|gave|called)\b",
    re.I,
)
IS_NURSE = re.compile(
    r"^\s(?:is|was)\s(?:an?\s)?(?:\w+\s)?(?:nurse|doctor|GP|vet|paramedic|carer|pharmacist"
    r"|midwife|physio)"
    r"\s?(?:,|and|;)\s(?:and\s)?$",
    re.I,
)
HELPS = re.compile(
    r"\s+(?:dressed|cleaned|washed|bandaged|checked|looked|gave|applied|put|took|removed"
    r"|steri-?stripped"
    r"|advised|strapped|treated|stitched|wrapped|examined|thinks|says|said|was worried)\b",
    re.I,
)
PAIR = re.compile(
    r"\b(?:pt|patient|he|she|driver|passenger|rider|cyclist|boy|girl|man|woman|lady|gentleman)"
    r"\s(?:and|&)\s(?:his|her)\s(?:\w+\s)?(?P<who>brother|sister|son"
    r"|daughter|mother"
    r"|father|mum|mom|dad|husband|wife|partner|friend|cousin|colleague|roommate|flatmate|twin)\s"
    r"(?:both|were|are|have|had|attend|present|ate|in|fell|all)\b",
    re.I,
)
OBSERVES = re.compile(
    r"\b(?:noticed|notices|found|finds|says|said|states|reports|reported|saw|sees|heard|worried"
    r"|concerned"
    r"|checked|took|taken|takes|held|holding|looked|manages|helps|helped|witnessed|cleaned"
    r"|dressed|removed"
    r"|applied|put|wrapped|reduced|strapped|reset|examined|changed|changes|gives|gave|stopped"
    r"|started"
    r"|increased|prescribed|reviewed|thinks|called about)\b",
    re.I,
)
AWAY = re.compile(
    r"\s+(?:is|was)\s(?:back|away|on leave|off (?:until|today|sick|work)|on holiday|not in)\b"
    r"|\s+returns?\b",
    re.I,
)
HAS_WORK = re.compile(
    r"\s+(?:is|was)\s(?:also\s)?(?:an?\s)?(?:\w+\s)?(?:GP|doctor|nurse|vet|paramedic|carer"
    r"|pharmacist|midwife"
    r"|physio|teacher|first[ -]aider|RN|EMT|dentist|surgeon)\b",
    re.I,
)
CAME_WITH = re.compile(
    r"\s+(?:has\s|had\s)?(?:came|come|brought|stayed|followed|drove|carried|kept|parked"
    r"|waited|left|went home"
    r"|will (?:ring|call|come|collect|pick|be back)"
    r"|is (?:waiting|parking|collecting|here|outside|with))\b",
    re.I,
)
SAYS_NEXT = re.compile(
    rf"\s+(?:also\s+|then\s+|has\s+|had\s+)?(?:{SAYS}|{STAFF_ACTS})\b", re.IGNORECASE
)
WELL_NOW = re.compile(
    r"\s+(?:is|was)\s+(?:now\s+)?(?:fine|well|ok|okay|better|recovered"
    r"|asymptomatic)\b(?:\s+now\b)?",
    re.IGNORECASE,
)
RESCUES = re.compile(
    r"\s+(?:also\s+|then\s+|immediately\s+|has\s+)?(?:(?:did|started|performed|began|commenced"
    r"|continued)\s(?:\w+\s)?"
    r"(?:CPR|compressions|BLS)|(?:called|rang|phoned|dialled|dialed)\s(?:999|911|111|112|EMS"
    r"|(?:an|the|for)\s\w+)"
    r"|administered|applied\s(?:pressure|a\stourniquet)|extricated)\b",
    re.IGNORECASE,
)
FLED = re.compile(
    r"\s+(?:has\s+|had\s+|then\s+)?(?:brought (?:its|the)|fled|ran off|ran away|drove off"
    r"|not been caught|got away|left the scene|(?:was|been"
    r"|is being) arrested"
    r"|is in custody|is known to police|is unknown to|stopped at (?:the )?scene|did not stop"
    r"|failed to stop)\b",
    re.IGNORECASE,
)
ON_THE_WAY = re.compile(
    r"\s+(?:is|was|will be)\s+(?:waiting|on (?:his|her) way|en route|coming|driving|at work|outside"
    r"|parking|in traffic)\b",
    re.IGNORECASE,
)
FINE = re.compile(
    r"\s+(?:is|was)\s+(?:now\s+|also\s+)?(?:fine|well|ok|okay|unhurt|uninjured|unharmed|better)\b",
    re.IGNORECASE,
)
TWO_PATIENTS = re.compile(
    r"(?<!his )(?<!her )\b(?:twin\s)?(?:brothers|sisters|twins|siblings|couple|mother and daughter"
    r"|father and son|mother and son|father and daughter)\b",
    re.IGNORECASE,
)
WORKPLACE = re.compile(
    r"\s+(?:clinic|office|practice|surgery|shift|ward|rounds|letter|car|van|vehicle|truck|lorry"
    r"|bike"
    r"|phone|dog|lead|leash)\b",
    re.IGNORECASE,
)
OTHER_CHILD = re.compile(
    r"\s+(?:first|other|older|oldest|eldest|second|third|previous|last|youngest)\s+"
    r"(?:child|children|baby|babies|kids?|sons?|daughters?|one)\b",
    re.IGNORECASE,
)
WITH_PATIENT = re.compile(
    r"\s+(?:also\s+|then\s+|has\s+)?(?:stayed|sat|came|waited|went|travelled|traveled|is"
    r"|was)\s(?:[\w-]+\s){0,4}?"
    r"with\s(?:him|her)\b(?!\s[a-z]+\b(?<!until)(?<!and)(?<!in)(?<!at)(?<!to)(?<!for))",
    re.IGNORECASE,
)
WATCHED = re.compile(
    r"\s+(?:also\s+)?(?:timed|filmed|witnessed|recorded|saw|heard)\s(?:it|the|a)\b(?!\s(?:pop"
    r"|crack|click|snap))|\s+(?:drove|drives)\b(?!\s(?:into|off|a|his|her))",
    re.IGNORECASE,
)
