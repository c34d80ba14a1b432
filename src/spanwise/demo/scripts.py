"""Scripted conversations of the demo: questions of users, tool calls and answers of agents.

Placeholders such as `{order}` are filled once per conversation, so that all turns agree.
"""

import re
from dataclasses import dataclass
from random import Random
from typing import Any

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Call:
    """One tool call, with its result on success."""

    tool: str
    arguments: dict[str, Any]
    result: Any


@dataclass(frozen=True)
class Exchange:
    """One question and its answer; the calls of a round run in parallel."""

    question: str
    rounds: tuple[tuple[Call, ...], ...]
    answer: str


@dataclass(frozen=True)
class Script:
    """A conversation; sessions may end after any of its exchanges."""

    topic: str
    exchanges: tuple[Exchange, ...]


def choose_slots(rng: Random) -> dict[str, str]:
    """Choose names, cities, amounts and so on for one conversation."""
    return {
        "order": f"A-{rng.randrange(40_000, 99_999)}",
        "name": rng.choice(("Mina", "Jonas", "Aylin", "Tom", "Priya", "Luca", "Sofia", "Ben")),
        "item": rng.choice(("desk lamp", "rain jacket", "espresso grinder", "trail shoes")),
        "amount": f"{rng.randrange(19, 240)}.{rng.choice(('00', '50', '90', '99'))}",
        "city": rng.choice(("Lisbon", "Kyoto", "Oslo", "Montréal", "Porto", "Copenhagen")),
        "origin": rng.choice(("Berlin", "Zürich", "Vienna", "Dublin")),
        "day": rng.choice(("Thursday", "Friday", "the 14th", "next Monday")),
        "nights": str(rng.randrange(2, 8)),
        "company": rng.choice(("Northwind", "Halden Robotics", "Brightwater", "Osprey Energy")),
        "market": rng.choice(("heat pumps", "cold-chain logistics", "e-bike leasing")),
        "vendor": rng.choice(("Keller GmbH", "Atlas Paper", "Ferro Supplies", "Blue Harbor Ltd")),
        "invoice": f"INV-{rng.randrange(2_000, 9_999)}",
        "pull": str(rng.randrange(1_100, 1_900)),
        "module": rng.choice(("billing/ledger.py", "auth/session.py", "search/index.py")),
        "function": rng.choice(("post_entry", "refresh_token", "rebuild_index")),
    }


def fill_slots(value: Any, slots: dict[str, str]) -> Any:  # noqa: ANN401 -- JSON of any shape
    """Fill the placeholders in every string of a JSON value."""
    if isinstance(value, str):
        return _SLOT.sub(lambda found: slots.get(found[1], found[0]), value)
    if isinstance(value, dict):
        return {name: fill_slots(item, slots) for name, item in value.items()}
    if isinstance(value, list):
        return [fill_slots(item, slots) for item in value]
    return value


SUPPORT = (
    Script(
        "where is my order",
        (
            Exchange(
                "Hi, my order {order} was supposed to arrive on {day}. Where is it?",
                (
                    (Call("get_order", {"orderId": "{order}"},
                          {"orderId": "{order}", "item": "{item}", "status": "in_transit",
                           "carrier": "DHL", "expected": "tomorrow before 18:00"}),),
                ),
                "Hi {name}, your **{item}** is on its way. It left the sorting centre this morning "
                "and DHL expects to deliver it *tomorrow before 18:00*.\n\n"
                "You can follow it with the tracking link in your confirmation mail.",
            ),
            Exchange(
                "I will not be at home tomorrow. Can it go to a neighbour?",
                (
                    (Call("search_knowledge_base", {"query": "change delivery, neighbour"},
                          [{"title": "Redirect a parcel", "score": 0.87,
                            "text": "Until 20:00 the day before, customers can choose a neighbour, "
                                    "a parcel shop or another day in the carrier's app."}]),),
                ),
                "Yes. Until **20:00 today** you can choose in the DHL app:\n\n"
                "1. a neighbour\n2. a parcel shop near you\n3. another day\n\n"
                "Shall I send you the link?",
            ),
            Exchange("Yes please, thanks!", (), "Done, the link is in your inbox. Have a good day!"),
        ),
    ),
    Script(
        "refund",
        (
            Exchange(
                "The {item} I got in order {order} is broken. I want my money back on my card, 4111 "
                "1111 1111 1111.",
                (
                    (Call("get_order", {"orderId": "{order}"},
                          {"orderId": "{order}", "item": "{item}", "paid": "{amount}",
                           "status": "delivered", "deliveredDaysAgo": 4}),
                     Call("search_knowledge_base", {"query": "refund broken item"},
                          [{"title": "Damaged on arrival", "score": 0.93,
                            "text": "Within 30 days the full price is refunded; no return of items "
                                    "under 50 EUR."}])),
                ),
                "I am sorry about that, {name}. Order {order} was delivered four days ago, so it is "
                "covered: I can refund the full **{amount} EUR**. Shall I?",
            ),
            Exchange(
                "Yes, go ahead.",
                (
                    (Call("create_refund", {"orderId": "{order}", "amount": "{amount}",
                                            "reason": "damaged_on_arrival"},
                          {"refundId": "R-{order}", "state": "accepted", "days": 3}),),
                ),
                "The refund of **{amount} EUR** is accepted. It will be on your account within three "
                "working days; the reference is `R-{order}`.",
            ),
        ),
    ),
    Script(
        "password",
        (
            Exchange(
                "I cannot log in any more, it says my password is wrong but I am sure it is right.",
                (
                    (Call("search_knowledge_base", {"query": "cannot log in, wrong password"},
                          [{"title": "Reset your password", "score": 0.91,
                            "text": "Use *Forgot password* on the sign-in page. The link is valid "
                                    "for one hour."}]),),
                ),
                "After five wrong tries an account is locked for 15 minutes, even for the right "
                "password. Either wait, or use **Forgot password** on the sign-in page: the link in "
                "the mail is valid for one hour.",
            ),
        ),
    ),
    Script(
        "speak to a human",
        (
            Exchange(
                "This is the third time I explain this. I want to talk to a person.",
                (
                    (Call("escalate_to_human", {"reason": "customer request", "orderId": "{order}"},
                          {"ticket": "T-{pull}", "waitMinutes": 6}),),
                ),
                "I understand. A colleague will take over in about six minutes; they can see "
                "everything you wrote, so you need not explain it again. Your ticket is `T-{pull}`.",
            ),
        ),
    ),
)  # fmt: skip

RESEARCH = (
    Script(
        "market brief",
        (
            Exchange(
                "Write me a one-page brief on {market} in the Nordics: size, growth, who leads.",
                (
                    (Call("web_search", {"query": "{market} Nordics market size"},
                          {"results": [{"title": "{market}: Nordic outlook", "rank": 1},
                                       {"title": "Annual report {company}", "rank": 2}]}),
                     Call("web_search", {"query": "{market} Sweden Norway growth"},
                          {"results": [{"title": "Growth slows to 9 %", "rank": 1}]})),
                    (Call("fetch_page", {"url": "https://reports.example.com/nordic-outlook"},
                          "The market grew by 9 % to 4.1 billion EUR; {company} holds 23 % …"),),
                    (Call("query_warehouse", {"sql": "SELECT year, sum(revenue) FROM market …"},
                          {"rows": 5, "first": ["2021", 2.9], "last": ["2025", 4.1]}),),
                ),
                "## {market} in the Nordics\n\n**Size**: 4.1 billion EUR. **Growth**: 9 % a year, "
                "slowing.\n\n- {company} leads with 23 %\n- the next three share 40 %\n- entry is "
                "easiest in Finland, where subsidies were renewed\n\nSources: Nordic outlook (p. 4), "
                "our warehouse.",
            ),
            Exchange(
                "How sure are you about the 23 %?",
                (
                    (Call("fetch_page", {"url": "https://reports.example.com/{company}"},
                          "Our share of the Nordic market was 22.8 % (previous year: 21.1 %)."),),
                ),
                "Fairly sure: {company} itself reports **22.8 %** in its annual report, and the "
                "outlook rounds it to 23 %.",
            ),
        ),
    ),
    Script(
        "competitor",
        (
            Exchange(
                "What did {company} announce this quarter, and does it matter to us?",
                (
                    (Call("web_search", {"query": "{company} announcement"},
                          {"results": [{"title": "{company} opens second plant", "rank": 1},
                                       {"title": "{company} cuts prices by 6 %", "rank": 2}]}),),
                    (Call("fetch_page", {"url": "https://news.example.com/{company}-prices"},
                          "{company} cuts list prices by 6 % for annual contracts …"),),
                ),
                "Two things: a second plant (capacity +30 % from spring) and **6 % lower prices** on "
                "annual contracts. The second matters now: our offer for {market} is then 4 % "
                "more expensive.",
            ),
        ),
    ),
)  # fmt: skip

REVIEW = (
    Script(
        "pull request",
        (
            Exchange(
                "Review pull request #{pull}: “{module}: retry when the store is busy”.",
                (
                    (Call("read_file", {"path": "src/{module}"},
                          "def {function}(entry):\n    for attempt in range(3):\n        try:\n"
                          "            return store.write(entry)\n        except Busy:\n"
                          "            time.sleep(1)\n"),
                     Call("grep_repository", {"pattern": "{function}("},
                          ["src/{module}:41", "src/jobs/nightly.py:88", "tests/test_ledger.py:12"])),
                    (Call("run_tests", {"path": "tests", "changed": True},
                          {"passed": 214, "failed": 0, "seconds": 38}),),
                ),
                "**Request changes.** Two findings:\n\n1. After the third try `{function}` returns "
                "`None` without an error, so an entry can be lost silently.\n2. `time.sleep(1)` runs "
                "inside the event loop of `jobs/nightly.py`.\n\n```python\nraise StoreBusy(entry.id)"
                "\n```\n\nTests pass (214), but none covers the third failure.",
            ),
        ),
    ),
    Script(
        "security question",
        (
            Exchange(
                "Does #{pull} change who can read other people's data?",
                (
                    (Call("grep_repository", {"pattern": "workspace_id"},
                          ["src/{module}:17", "src/{module}:52"]),
                     Call("read_file", {"path": "src/{module}"},
                          "def {function}(workspace_id, key): …")),
                ),
                "No. Every query in `{module}` still takes `workspace_id` first; the new one at line "
                "52 does too. **Approve.**",
            ),
        ),
    ),
)  # fmt: skip

INVOICES = (
    Script(
        "invoice",
        (
            Exchange(
                "Extract the document {invoice}.pdf and post it.",
                (
                    (Call("ocr_document", {"file": "{invoice}.pdf", "pages": 2},
                          {"vendor": "{vendor}", "number": "{invoice}", "total": "{amount}",
                           "currency": "EUR", "confidence": 0.97}),),
                    (Call("lookup_vendor", {"name": "{vendor}"},
                          {"vendorId": "V-{pull}", "terms": "30 days", "blocked": False}),),
                    (Call("post_to_ledger", {"vendorId": "V-{pull}", "amount": "{amount}"},
                          {"entry": "L-{pull}", "state": "posted"}),),
                ),
                '{"number": "{invoice}", "vendor": "{vendor}", "total": "{amount}", '
                '"currency": "EUR", "entry": "L-{pull}"}',
            ),
        ),
    ),
    Script(
        "credit note",
        (
            Exchange(
                "Extract the document {invoice}-credit.pdf and post it.",
                (
                    (Call("ocr_document", {"file": "{invoice}-credit.pdf", "pages": 1},
                          {"vendor": "{vendor}", "total": "-{amount}", "confidence": 0.91}),),
                    (Call("lookup_vendor", {"name": "{vendor}"},
                          {"vendorId": "V-{pull}", "terms": "30 days", "blocked": False}),),
                ),
                '{"number": "{invoice}-credit", "vendor": "{vendor}", "total": "-{amount}", '
                '"needsReview": true}',
            ),
        ),
    ),
)  # fmt: skip

TRAVEL = (
    Script(
        "weekend trip",
        (
            Exchange(
                "I want to fly from {origin} to {city} on {day}, {nights} nights, not too expensive.",
                (
                    (Call("search_flights", {"from": "{origin}", "to": "{city}", "on": "{day}"},
                          {"offers": [{"airline": "TAP", "price": "{amount}", "stops": 0},
                                      {"airline": "KLM", "price": "188.00", "stops": 1}]}),
                     Call("search_hotels", {"city": "{city}", "nights": "{nights}"},
                          {"offers": [{"name": "Casa do Rio", "rating": 8.9, "price": 92},
                                      {"name": "The Yard", "rating": 8.4, "price": 79}]})),
                ),
                "For {city} I found:\n\n- **Flight**: direct, {amount} EUR\n- **Hotel**: Casa do Rio "
                "(8.9), 92 EUR a night\n\nShall I hold both until this evening?",
            ),
            Exchange(
                "Hold them please. And what is the weather like?",
                (
                    (Call("hold_booking", {"flight": 1, "hotel": 1, "until": "20:00"},
                          {"reference": "H{pull}", "expires": "20:00"}),
                     Call("get_weather", {"city": "{city}", "on": "{day}"},
                          {"high": 21, "low": 13, "rain": 0.1})),
                ),
                "Both are held until 20:00 under `H{pull}`. In {city} expect 13 to 21 °C and hardly "
                "any rain.",
            ),
            Exchange(
                "Perfect, book it.",
                (
                    (Call("book_trip", {"reference": "H{pull}"},
                          {"state": "confirmed", "confirmation": "C{pull}"}),),
                ),
                "Booked! Your confirmation is `C{pull}`; the tickets are in your inbox.",
            ),
        ),
    ),
    Script(
        "change of plans",
        (
            Exchange(
                "My meeting in {city} moved. Is there a later flight home on {day}?",
                (
                    (Call("search_flights", {"from": "{city}", "to": "{origin}", "on": "{day}"},
                          {"offers": [{"airline": "SAS", "price": "34.00", "departs": "20:45"}]}),),
                ),
                "Yes: 20:45 with SAS, the change costs **34 EUR**. Shall I rebook?",
            ),
            Exchange("No, too late. Keep the old one.", (), "Your booking is unchanged. Safe travels, {name}!"),
        ),
    ),
)  # fmt: skip
