"""Text that nobody said, for the built-in study: requests to an assistant from a small grammar."""

from __future__ import annotations

import numpy as np

_PATTERNS = (
    "{polite} {action} {item} {when}",
    "{polite} {action} {item} in the {room}",
    "remind {person} to {task} {when}",
    "what is the {fact} in {place} {when}",
    "how do i get from {place} to {place} {when}",
    "{person} wants to {task} with {person} {when}",
    "is there a {shop} near the {shop} in {place}",
    "the {item} in the {room} is {state}",
    "play {music} in the {room} {when}",
    "tell {person} that the {item} is {state}",
    "my {relative} and i will {task} {when}",
    "{person} said the {shop} in {place} is {state}",
    "why is the {item} so {state} {when}",
    "i think {person} should {task} and then {task}",
    "{polite} add {food} and {food} to the {list}",
    "we had {food} with {food} at the {shop} {when}",
)
_WORDS = {
    "polite": "please|could you|i want you to|would you kindly|do not forget to|just",
    "action": "switch on|switch off|check|move|clean|find|fix|close|open|replace|hide|bring|test",
    "item": "lamp|heater|window|kettle|oven|door|radio|clock|camera|printer|curtain|ladder|bicycle|"
    "fridge|washing machine|vacuum cleaner|mirror|carpet|bookshelf|fan|alarm|keyboard|garden hose",
    "room": "kitchen|bedroom|bathroom|hall|garage|cellar|attic|garden|office|living room|nursery",
    "when": "now|today|tonight|tomorrow|this evening|at noon|at midnight|on monday|on tuesday|"
    "on wednesday|on thursday|on friday|on saturday|on sunday|next week|next month|in an hour|"
    "after lunch|before dinner|every morning|every other day|in the summer|at the weekend",
    "person": "anna|boris|clara|david|emil|freya|gustav|hanna|ivan|julia|karim|lena|marco|nadia|"
    "oscar|paula|quentin|rosa|stefan|tina|ulrich|vera|walter|yusuf|zoe",
    "task": "buy bread|call the doctor|water the plants|feed the cat|pay the rent|walk the dog|"
    "book a table|send the letter|paint the fence|learn a poem|visit the museum|cook a soup|"
    "wash the car|sell the piano|plan the holiday|repair the roof|sing a song|take a nap|"
    "count the chairs|write a report|read the news|catch the early train|bake a cake",
    "fact": "weather|temperature|time|traffic|price of milk|best restaurant|population|"
    "water level|air quality|local news|opening time of the library|name of the mayor",
    "place": "lisbon|osaka|riga|porto|nairobi|quito|oslo|hanoi|turin|cork|tampere|leeds|graz|"
    "lyon|malaga|utrecht|bergen|tartu|kosice|split|ghent|bari|patras|lublin",
    "shop": "bakery|pharmacy|library|station|market|cinema|bank|post office|theatre|harbour|"
    "school|hospital|museum|stadium|bookshop|airport|swimming pool|town hall",
    "state": "broken|open|closed|noisy|warm|cold|empty|full|late|early|dirty|clean|expensive|"
    "cheap|crowded|quiet|slow|fast|green|yellow|new|very old|hard to find|not there",
    "music": "some jazz|an opera|the radio|folk songs|a waltz|quiet music|that new song|"
    "a piano concert|the national anthem|something slow|a march|old records",
    "relative": "brother|sister|aunt|uncle|cousin|mother|father|grandmother|neighbour|teacher",
    "food": "apples|rice|carrots|cheese|salmon|noodles|olives|eggs|butter|pepper|honey|spinach|"
    "beans|walnuts|potatoes|lemons|garlic|mushrooms|plums|yoghurt|barley|onions",
    "list": "shopping list|menu|order|basket|notes",
}


def demo_sentences(count: int, *, seed: int = 0) -> list[str]:
    """Make sentences; the same seed gives the same ones.

    Parameters
    ----------
    count : int
        How many.
    seed : int, default 0
        Of the draws.
    """
    rng = np.random.default_rng(seed)
    choices = {name: words.split("|") for name, words in _WORDS.items()}

    def fill(pattern: str) -> str:
        words = []
        for part in pattern.split():
            name = part.strip("{}")
            options = choices.get(name, [part]) if part.startswith("{") else [part]
            words.append(options[int(rng.integers(len(options)))])
        return " ".join(words)

    return [fill(_PATTERNS[int(rng.integers(len(_PATTERNS)))]) for _ in range(count)]
