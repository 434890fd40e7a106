"""What `build_samples.py` plays: an agent moves a small invoice library from floats to Decimal.

`STEPS` is a list of what happens: a text is said by the person; a tuple is a response of the
agent, `(text, call, …)`, where a call is `(tool, arguments)` or, if the scenario says what comes
back instead of the workspace, `(tool, arguments, answer)`.
"""

from typing import Any

SYSTEM = """You are a careful coding agent in a repository called ledger.

- Read before you write. Never edit a file that you have not read in this session.
- Make small edits, run the tests after each of them, and say what they showed.
- Ask in parallel what does not depend on each other.
- Do not add dependencies. Do not touch files outside the task.
- When you are done, say what changed, what you did not do, and what you are unsure of."""

TOOLS: list[dict[str, Any]] = [
    {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {key: {"type": "string", "description": text} for key, text in keys},
            "required": [key for key, _ in keys],
        },
    }
    for name, description, keys in (
        ("list_files", "List the files of the repository with their sizes in bytes.", ()),
        ("read_file", "Read a file with numbered lines.", (("path", "relative path"),)),
        ("grep", "Find a fixed text in all files.", (("pattern", "text to find"),)),
        (
            "edit_file",
            "Replace one occurrence of a text in a file. Fails unless it occurs exactly once.",
            (("path", "relative path"), ("old", "text to replace"), ("new", "new text")),
        ),
        (
            "write_file",
            "Create a file or replace it as a whole.",
            (("path", "relative path"), ("content", "the whole file")),
        ),
        ("run_tests", "Run pytest on a path and return its output.", (("path", "what to run"),)),
    )
]

FILES = {
    "ledger/__init__.py": '"""Invoices for small workshops."""\n\n'
    "from ledger.invoice import Invoice\nfrom ledger.lines import Line\n\n"
    '__all__ = ["Invoice", "Line"]\n',
    "ledger/money.py": '''"""Amounts of money. For now these are plain floats, in euros."""

CURRENCY = "EUR"


def cents(amount):
    """Round an amount to whole cents."""
    return round(amount, 2)


def show(amount):
    """The amount as it stands on paper."""
    return f"{amount:,.2f} {CURRENCY}"


def parse(text):
    """Read an amount that a person typed, with a comma or a point."""
    return float(text.replace(" ", "").replace(",", "."))
''',
    "ledger/lines.py": '''"""The lines of an invoice."""

from dataclasses import dataclass

from ledger.money import cents


@dataclass
class Line:
    """One article: how many, at which price, with which rate of tax in percent."""

    text: str
    quantity: float
    price: float
    tax: float = 19.0

    @property
    def net(self):
        return cents(self.quantity * self.price)

    @property
    def tax_amount(self):
        return cents(self.net * self.tax / 100)

    @property
    def gross(self):
        return self.net + self.tax_amount
''',
    "ledger/discount.py": '''"""Discounts, in percent or as an amount."""

from ledger.money import cents


def percent(amount, rate):
    """`amount` less `rate` percent."""
    return cents(amount * (1 - rate / 100))


def early_payment(amount, days, rate=2.0, within=10):
    """The amount due if it is paid after `days` days."""
    if days <= within:
        return percent(amount, rate)
    return amount


def spread(amount, weights):
    """Split an amount over lines in proportion to their weights."""
    total = sum(weights)
    return [cents(amount * weight / total) for weight in weights]
''',
    "ledger/invoice.py": '''"""An invoice: lines, a discount, and the sums at its foot."""

from dataclasses import dataclass, field

from ledger.discount import percent, spread
from ledger.lines import Line


@dataclass
class Invoice:
    number: str
    customer: str
    lines: list[Line] = field(default_factory=list)
    discount: float = 0.0

    def add(self, line):
        self.lines.append(line)

    @property
    def net(self):
        return sum(line.net for line in self.lines)

    @property
    def net_after_discount(self):
        return percent(self.net, self.discount)

    def tax_by_rate(self):
        """Tax for each rate, after the discount has been spread over the lines."""
        rebate = self.net - self.net_after_discount
        shares = spread(rebate, [line.net for line in self.lines])
        taxes = {}
        for line, share in zip(self.lines, shares):
            taxed = (line.net - share) * line.tax / 100
            taxes[line.tax] = taxes.get(line.tax, 0.0) + taxed
        return {rate: round(amount, 2) for rate, amount in taxes.items()}

    @property
    def gross(self):
        return self.net_after_discount + sum(self.tax_by_rate().values())
''',
    "ledger/render.py": '''"""An invoice as text."""

from ledger.money import show


def render(invoice):
    rows = [f"Invoice {invoice.number} for {invoice.customer}", ""]
    for line in invoice.lines:
        rows.append(f"{line.quantity:>6g} x {line.text:<30} {show(line.net):>16}")
    rows.append("")
    rows.append(f"{'Net':<39} {show(invoice.net_after_discount):>16}")
    for rate, amount in sorted(invoice.tax_by_rate().items()):
        rows.append(f"{f'Tax {rate:g} %':<39} {show(amount):>16}")
    rows.append(f"{'To pay':<39} {show(invoice.gross):>16}")
    return "\\n".join(rows)
''',
    "ledger/export.py": '''"""Invoices as JSON for the bookkeeper."""

import json


def to_json(invoice):
    """Amounts are written as numbers; the bookkeeper's importer wants exactly two decimals."""
    return json.dumps(
        {
            "number": invoice.number,
            "customer": invoice.customer,
            "lines": [
                {"text": l.text, "quantity": l.quantity, "price": l.price, "tax": l.tax}
                for l in invoice.lines
            ],
            "net": invoice.net_after_discount,
            "taxes": invoice.tax_by_rate(),
            "gross": invoice.gross,
        }
    )
''',
    "tests/test_money.py": """from ledger.money import cents, parse, show


def test_show():
    assert show(1234.5) == "1,234.50 EUR"


def test_parse_comma():
    assert parse("1 234,50") == 1234.5


def test_half_cents_go_up():
    assert cents(2.675) == 2.68
""",
    "tests/test_invoice.py": """from ledger import Invoice, Line


def invoice():
    made = Invoice("2026-014", "Bakery Oort", discount=3.0)
    made.add(Line("Oak board, planed", 3, 19.99))
    made.add(Line("Bread, for the crew", 7, 1.15, tax=7.0))
    made.add(Line("Workshop hour", 1.5, 48.35))
    return made


def test_net():
    assert invoice().net == 140.55


def test_gross_is_what_the_customer_pays():
    assert invoice().gross == 161.30


def test_discount_is_spread_without_a_rest():
    made = invoice()
    rebate = made.net - made.net_after_discount
    assert rebate == 4.22
""",
}

FAILED = """..F..F                                                                   [100%]
=================================== FAILURES ===================================
___________________ test_discount_is_spread_without_a_rest _____________________
        rebate = made.net - made.net_after_discount
>       assert rebate == 4.22
E       assert 4.219999999999999 == 4.22
tests/test_invoice.py:23: AssertionError
____________________________ test_half_cents_go_up _____________________________
    def test_half_cents_go_up():
>       assert cents(2.675) == 2.68
E       assert 2.67 == 2.68
E        +  where 2.67 = cents(2.675)
tests/test_money.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_invoice.py::test_discount_is_spread_without_a_rest - assert ...
FAILED tests/test_money.py::test_half_cents_go_up - assert 2.67 == 2.68
2 failed, 4 passed in 0.06s"""


def passed(count: int, seconds: float) -> str:
    """pytest's output of a run in which everything passed."""
    return f"{'.' * count:<72} [100%]\n{count} passed in {seconds:.2f}s"


MIXED = ("decimal.Decimal", "float")


def type_error(line: str, where: str, operator: str, kinds: tuple[str, str]) -> str:
    """pytest's output while one module still mixes Decimal and float."""
    left, right = kinds
    error = f"TypeError: unsupported operand type(s) for {operator}: '{left}' and '{right}'"
    return f"""=================================== FAILURES ===================================
___________________________________ test_net ___________________________________
>       assert invoice().net == 140.55
E       AssertionError: assert Decimal('140.55') == 140.55
tests/test_invoice.py:13: AssertionError
_____________________ test_gross_is_what_the_customer_pays _____________________
>       {line}
E       {error}
{where}: TypeError
____________________________ test_half_cents_go_up _____________________________
>       assert cents(2.675) == 2.68
E       AssertionError: assert Decimal('2.68') == 2.68
=========================== short test summary info ============================
FAILED tests/test_invoice.py::test_net - AssertionError: assert Decimal('140....
FAILED tests/test_invoice.py::test_gross_is_what_the_customer_pays - TypeError...
FAILED tests/test_invoice.py::test_discount_is_spread_without_a_rest - TypeErr...
FAILED tests/test_money.py::test_half_cents_go_up - AssertionError: assert Dec...
4 failed, 2 passed in 0.07s"""


FLOATS_EXPECTED = """FFF..F                                                             [100%]
E       AssertionError: assert Decimal('140.55') == 140.55
E       AssertionError: assert Decimal('161.30') == 161.3
E       AssertionError: assert Decimal('4.22') == 4.22
E       AssertionError: assert Decimal('2.68') == 2.68
=========================== short test summary info ============================
FAILED tests/test_invoice.py::test_net - AssertionError: assert Decimal('140....
FAILED tests/test_invoice.py::test_gross_is_what_the_customer_pays - Assertio...
FAILED tests/test_invoice.py::test_discount_is_spread_without_a_rest - Assert...
FAILED tests/test_money.py::test_half_cents_go_up - AssertionError: assert De...
4 failed, 2 passed in 0.06s"""


def read(path: str) -> tuple[str, dict[str, str]]:
    return "read_file", {"path": path}


def grep(pattern: str) -> tuple[str, dict[str, str]]:
    return "grep", {"pattern": pattern}


def edit(path: str, old: str, new: str) -> tuple[str, dict[str, str]]:
    return "edit_file", {"path": path, "old": old, "new": new}


def write(path: str, content: str) -> tuple[str, dict[str, str]]:
    return "write_file", {"path": path, "content": content}


def check(answer: str, path: str = "tests") -> tuple[str, dict[str, str], str]:
    return "run_tests", {"path": path}, answer


Step = str | tuple[Any, ...]

STEPS: list[Step] = [
    "Our invoices are sometimes a cent off. Please move the ledger package from floats to Decimal. "
    "Three rules: the JSON export must keep exactly two decimals and must stay numbers, not "
    "strings; half cents round up, away from zero, as the tax office wants it; and no new "
    "dependency. The tests that fail today show the problem.",
    ("I'll look at what is there, and at what fails.", ("list_files", {}), check(FAILED)),
    (
        "Two failures, both of them binary floats. I'll read the package before I touch it.",
        read("ledger/money.py"),
        read("ledger/lines.py"),
        read("ledger/discount.py"),
        read("ledger/invoice.py"),
    ),
    ("And what prints, exports and tests it.", read("ledger/render.py"), read("ledger/export.py")),
    ("", read("tests/test_money.py"), read("tests/test_invoice.py")),
    ("Who rounds, and who makes floats?", grep("round("), grep("float"), grep("cents")),
    (
        "The plan:\n\n1. `money.py`: `cents` quantises with ROUND_HALF_UP, `parse` gives a "
        "Decimal, and a new `amount` turns what callers pass (int, str, float) into one.\n"
        "2. `lines.py`, `discount.py`, `invoice.py`: convert at the door, calculate in Decimal.\n"
        "3. `spread` must not lose a cent: give the rest to the largest line.\n"
        "4. `export.py`: numbers with two decimals. The json module cannot write a Decimal, so "
        "this needs thought.\n\nI start at the bottom, with `money.py`.",
    ),
    "Good plan. Floats that come in should go through str(), so that 19.99 becomes 19.99 and not "
    "19.989999. Go ahead.",
    (
        "Yes: `Decimal(str(value))` gives the digits that a person typed.",
        edit(
            "ledger/money.py",
            '"""Amounts of money. For now these are plain floats, in euros."""\n',
            '"""Amounts of money: Decimal, in euros."""\n\n'
            "from decimal import ROUND_HALF_UP, Decimal\n",
        ),
    ),
    (
        "",
        edit(
            "ledger/money.py",
            "    return round(amount, 2)",
            "    return amount.quantize(CENT, rounding=ROUND_HALF_UP)",
        ),
        edit(
            "ledger/money.py",
            'CURRENCY = "EUR"\n',
            'CURRENCY = "EUR"\nCENT = Decimal("0.01")\n\n\ndef amount(value):\n'
            '    """A Decimal with the digits that a person would write for `value`."""\n'
            "    return value if isinstance(value, Decimal) else Decimal(str(value))\n",
        ),
        edit("ledger/money.py", "    return float(text", "    return Decimal(text"),
    ),
    ("I check the file as a whole.", read("ledger/money.py")),
    (
        "`cents` gets a parameter called `amount` and shadows the new function, so I rename the "
        "parameter, and let `cents` convert, as callers pass plain numbers.",
        edit(
            "ledger/money.py",
            'def cents(amount):\n    """Round an amount to whole cents."""\n'
            "    return amount.quantize(",
            'def cents(value):\n    """Round to whole cents, half cents away from zero."""\n'
            "    return amount(value).quantize(",
        ),
        edit(
            "ledger/money.py",
            'def show(amount):\n    """The amount as it stands on paper."""\n'
            '    return f"{amount:,.2f} {CURRENCY}"',
            'def show(value):\n    """The amount as it stands on paper."""\n'
            '    return f"{cents(value):,.2f} {CURRENCY}"',
        ),
    ),
    (
        "",
        check(
            type_error(
                "return cents(amount * (1 - rate / 100))", "ledger/discount.py:8", "*", MIXED
            )
        ),
    ),
    (
        "As expected: money.py is done, and its callers now mix both kinds. Next is Line, where "
        "all amounts come in. A dataclass converts in `__post_init__`.",
        edit(
            "ledger/lines.py",
            "    quantity: float\n    price: float\n    tax: float = 19.0\n",
            "    quantity: Decimal\n    price: Decimal\n    tax: Decimal = Decimal(19)\n\n"
            "    def __post_init__(self):\n        self.quantity = amount(self.quantity)\n"
            "        self.price = amount(self.price)\n        self.tax = amount(self.tax)\n",
        ),
        edit(
            "ledger/lines.py",
            "from dataclasses import dataclass\n\nfrom ledger.money import cents\n",
            "from dataclasses import dataclass\nfrom decimal import Decimal\n\n"
            "from ledger.money import amount, cents\n",
        ),
    ),
    (
        "",
        check(
            type_error(
                "return cents(amount * (1 - rate / 100))", "ledger/discount.py:8", "*", MIXED
            )
        ),
    ),
    (
        "Now the discounts. The rate is converted in `percent`; `early_payment` calls it and needs "
        "no change but its default.",
        edit(
            "ledger/discount.py",
            "    return cents(amount * (1 - rate / 100))",
            "    return cents(amount(value) * (1 - amount(rate) / 100))",
        ),
        edit(
            "ledger/discount.py",
            'def percent(amount, rate):\n    """`amount` less',
            'def percent(value, rate):\n    """`value` less',
        ),
        edit(
            "ledger/discount.py",
            "from ledger.money import cents",
            "from ledger.money import CENT, amount, cents",
        ),
    ),
    ("", read("ledger/discount.py")),
    (
        "`early_payment` and `spread` also have a parameter called `amount`. I rewrite the file "
        "once, with `spread` giving away the rest, instead of five small edits.",
        write(
            "ledger/discount.py",
            '''"""Discounts, in percent or as an amount."""

from ledger.money import amount, cents


def percent(value, rate):
    """`value` less `rate` percent."""
    return cents(amount(value) * (1 - amount(rate) / 100))


def early_payment(value, days, rate=2, within=10):
    """What is due if it is paid after `days` days."""
    if days <= within:
        return percent(value, rate)
    return amount(value)


def spread(value, weights):
    """Split `value` over lines in proportion to their weights; the shares add up to it.

    What rounding leaves over goes to the line with the largest weight.
    """
    value, total = cents(value), sum(weights)
    if not total:
        return [amount(0) for _ in weights]
    shares = [cents(value * weight / total) for weight in weights]
    shares[weights.index(max(weights))] += value - sum(shares)
    return shares
''',
        ),
    ),
    (
        "",
        check(
            type_error(
                "taxes[line.tax] = taxes.get(line.tax, 0.0) + taxed",
                "ledger/invoice.py:35",
                "+",
                MIXED[::-1],
            )
        ),
    ),
    (
        "The invoice starts its sums from a float. It should start from a Decimal, and `sum` of an "
        "empty list must be a Decimal too.",
        edit(
            "ledger/invoice.py",
            "taxes.get(line.tax, 0.0) + taxed",
            "taxes.get(line.tax, Decimal(0)) + taxed",
        ),
        edit(
            "ledger/invoice.py",
            "        return sum(line.net for line in self.lines)",
            "        return sum((line.net for line in self.lines), Decimal(0))",
        ),
        edit(
            "ledger/invoice.py",
            "        return {rate: round(amount, 2) for rate, amount in taxes.items()}",
            "        return {rate: cents(tax) for rate, tax in taxes.items()}",
        ),
        edit(
            "ledger/invoice.py",
            "from dataclasses import dataclass, field\n",
            "from dataclasses import dataclass, field\nfrom decimal import Decimal\n",
        ),
        edit(
            "ledger/invoice.py",
            "from ledger.lines import Line\n",
            "from ledger.lines import Line\nfrom ledger.money import cents\n",
        ),
    ),
    (
        "",
        check(FLOATS_EXPECTED),
    ),
    (
        "All four amounts are right to the cent; the tests compare Decimals with binary floats. "
        "The expectations in the tests should be Decimals. That changes tests, so I ask: may I?",
    ),
    "Yes, change the expectations to Decimal, not the numbers.",
    (
        "",
        edit(
            "tests/test_invoice.py",
            "from ledger import Invoice, Line\n",
            "from decimal import Decimal\n\nfrom ledger import Invoice, Line\n",
        ),
        edit("tests/test_invoice.py", "net == 140.55", 'net == Decimal("140.55")'),
        edit("tests/test_invoice.py", "gross == 161.30", 'gross == Decimal("161.30")'),
        edit("tests/test_invoice.py", "rebate == 4.22", 'rebate == Decimal("4.22")'),
    ),
    (
        "",
        edit("tests/test_money.py", "show(1234.5)", 'show(Decimal("1234.5"))'),
        edit("tests/test_money.py", "== 1234.5\n", '== Decimal("1234.50")\n'),
        edit("tests/test_money.py", "cents(2.675) == 2.68", 'cents("2.675") == Decimal("2.68")'),
        edit(
            "tests/test_money.py",
            "from ledger.money import",
            "from decimal import Decimal\n\nfrom ledger.money import",
        ),
    ),
    ("", check(passed(6, 0.04))),
    (
        "All six pass. Left over: `export.py`, which no test covers, and which cannot write a "
        "Decimal at all. First a test that says what the bookkeeper needs.",
    ),
    "Right. Remember the rule about the export. And what about negative invoices, credit notes?",
    (
        "Two decimals, and numbers, not strings. Credit notes come after it; let me see whether "
        "negative amounts occur anywhere.",
        grep("-"),
        grep("discount"),
    ),
    (
        "Nothing in the package forbids a negative quantity, so a credit note is an invoice with "
        "negative lines. Half cents then round away from zero, which ROUND_HALF_UP does in the "
        "decimal module (it means away from zero, whatever its name suggests). I write both tests.",
        write(
            "tests/test_export.py",
            """import json
from decimal import Decimal

from ledger import Invoice, Line
from ledger.export import to_json


def made(quantity=3):
    invoice = Invoice("2026-015", "Bakery Oort")
    invoice.add(Line("Oak board", quantity, "20.10"))
    return invoice


def test_amounts_are_numbers_with_two_decimals():
    text = to_json(made())
    assert '"net": 60.30' in text
    assert '"gross": 71.76' in text


def test_it_is_json():
    read = json.loads(to_json(made()), parse_float=Decimal)
    assert read["gross"] == Decimal("71.76")


def test_credit_note():
    assert '"net": -60.30' in to_json(made(-3))
""",
        ),
    ),
    (
        "",
        check(
            "FFF                                                                      [100%]\n"
            "E   TypeError: Object of type Decimal is not JSON serializable\n"
            "3 failed in 0.05s",
            "tests/test_export.py",
        ),
    ),
    (
        "Three ways to write a Decimal as a number with the standard library:\n\n"
        "1. `default=float`: writes 60.3, which breaks the two decimals.\n"
        "2. A float subclass whose `__repr__` gives the digits: the C encoder calls "
        "`float.__repr__` directly, so it has no effect.\n"
        "3. Build the text of the amounts ourselves and let json write the rest.\n\n"
        "The third is dull and right. A small function writes a number token, and a template puts "
        "the pieces together, with `json.dumps` for every text.",
        read("ledger/export.py"),
    ),
    (
        "",
        write(
            "ledger/export.py",
            '''"""Invoices as JSON for the bookkeeper."""

import json
from decimal import Decimal

from ledger.money import cents


def number(value):
    """A Decimal as a JSON number, digit for digit: 60.30 stays 60.30."""
    return format(value, "f")


def written(value):
    """`value` as JSON. Unlike the json module this keeps the digits of a Decimal."""
    if isinstance(value, Decimal):
        return number(value)
    if isinstance(value, dict):
        pairs = (f"{json.dumps(str(key))}: {written(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)


def to_json(invoice):
    """Amounts are numbers with exactly two decimals, as the bookkeeper's importer wants them."""
    return written(
        {
            "number": invoice.number,
            "customer": invoice.customer,
            "lines": [
                {
                    "text": line.text,
                    "quantity": line.quantity,
                    "price": cents(line.price),
                    "tax": line.tax,
                }
                for line in invoice.lines
            ],
            "net": cents(invoice.net_after_discount),
            "taxes": invoice.tax_by_rate(),
            "gross": cents(invoice.gross),
        }
    )
''',
        ),
        check(passed(3, 0.03), "tests/test_export.py"),
    ),
    ("", check(passed(9, 0.06))),
    (
        "Nine of nine. I go through the rest of the list: does anything still make a float or "
        "round by itself?",
        grep("float"),
        grep("round("),
        grep("0.0"),
    ),
    (
        "One leftover: `discount: float = 0.0` in the invoice. It is converted in `percent`, so it "
        "works, but the annotation lies.",
        edit(
            "ledger/invoice.py", "    discount: float = 0.0", "    discount: Decimal = Decimal(0)"
        ),
    ),
    ("", check(passed(9, 0.05))),
    "What does a printed invoice look like now? I'm worried about `:g` with Decimals.",
    ("A good worry. I read the renderer again with that in mind.", read("ledger/render.py")),
    (
        "`{line.quantity:>6g}` of Decimal('1.50') prints 1.50, where the float printed 1.5, and "
        "`{rate:g}` of Decimal('7.0') prints 7.0. So yes, the paper changes. A test first.",
        write(
            "tests/test_render.py",
            """from ledger import Invoice, Line
from ledger.render import render


def test_quantities_and_rates_have_no_needless_zeros():
    invoice = Invoice("2026-016", "Bakery Oort")
    invoice.add(Line("Workshop hour", "1.50", 48, tax="7.0"))
    text = render(invoice)
    assert "   1.5 x Workshop hour" in text
    assert "Tax 7 %" in text
""",
        ),
        check(
            'F\n>       assert "   1.5 x Workshop hour" in text\n'
            "E       AssertionError: assert '   1.5 x Workshop hour' in 'Invoice 2026-016 for "
            "Bakery Oort\\n\\n  1.50 x Workshop hour                 72.00 EUR...'\n"
            "1 failed in 0.04s",
            "tests/test_render.py",
        ),
    ),
    (
        "`Decimal.normalize` drops the zeros but writes 100 as 1E+2; formatting with `f` after it "
        "puts that right. This belongs beside `show` in money.py.",
        edit(
            "ledger/money.py",
            "def parse(text):",
            'def plain(value):\n    """A number without needless zeros: 1.50 is 1.5, 100 is 100."""'
            '\n    return format(amount(value).normalize(), "f")\n\n\ndef parse(text):',
        ),
        edit("ledger/render.py", "{line.quantity:>6g}", "{plain(line.quantity):>6}"),
        edit("ledger/render.py", "Tax {rate:g} %", "Tax {plain(rate)} %"),
        edit("ledger/render.py", "import show", "import plain, show"),
    ),
    ("", check(passed(10, 0.06))),
    (
        "Ten of ten. One more look at the whole of what changed.",
        read("ledger/money.py"),
        read("ledger/invoice.py"),
        read("ledger/render.py"),
    ),
    (
        "Done so far: amounts are Decimals inside the package, half cents round away from zero, "
        "the export writes numbers with two decimals, the shares of a discount add up, and paper "
        "looks as before. Not done: `parse` accepts '1.234,50' wrongly, as it did before (the "
        "point is read as the decimal one). Unsure: whether anybody outside the package compares "
        "amounts with floats.",
    ),
    "Good. Fix parse as well: thousands may be written with points, spaces or apostrophes, and the "
    "decimals with a comma or a point.",
    (
        "The last comma or point is the decimal one if one or two digits follow; all others are "
        "separators. First the cases.",
        read("tests/test_money.py"),
        grep("parse"),
    ),
    (
        "",
        edit(
            "tests/test_money.py",
            "def test_half_cents_go_up():",
            "@pytest.mark.parametrize(\n"
            '    ("text", "value"),\n    [\n'
            '        ("1.234,50", "1234.50"),\n        ("1\'234.50", "1234.50"),\n'
            '        ("1 234,5", "1234.5"),\n        ("1.234", "1234"),\n'
            '        ("-0,99", "-0.99"),\n    ],\n)\n'
            "def test_parse(text, value):\n    assert parse(text) == Decimal(value)\n\n\n"
            "def test_half_cents_go_up():",
        ),
        edit(
            "tests/test_money.py",
            "from decimal import Decimal\n",
            "from decimal import Decimal\n\nimport pytest\n",
        ),
    ),
    (
        "",
        edit(
            "ledger/money.py",
            '    """Read an amount that a person typed, with a comma or a point."""\n'
            '    return Decimal(text.replace(" ", "").replace(",", "."))\n',
            '    """Read an amount that a person typed.\n\n'
            "    A last comma or point with one or two digits after it is the decimal one; all\n"
            "    others, spaces and apostrophes only separate thousands.\n"
            '    """\n'
            '    found = re.fullmatch(r"([+-]?[\\d .,\']*?)(?:[.,](\\d{1,2}))?", text.strip())\n'
            "    if not found:\n"
            '        raise ValueError(f"not an amount: {text!r}")\n'
            '    whole = re.sub(r"[ .,\']", "", found[1])\n'
            "    return Decimal(f\"{whole or 0}.{found[2] or '0'}\")\n",
        ),
        edit(
            "ledger/money.py",
            "from decimal import ROUND_HALF_UP",
            "import re\nfrom decimal import ROUND_HALF_UP",
        ),
        check(passed(8, 0.03), "tests/test_money.py"),
    ),
    ("", check(passed(15, 0.07))),
    "Before I merge: which rule did I give you about rounding, and where is it tested? And list "
    "what a reviewer should look at first.",
]

# Where the session log was compacted: after the person allowed the tests to be changed.
PAUSE = STEPS.index("Yes, change the expectations to Decimal, not the numbers.")

COMPACTION = """This session continues from an earlier conversation that ran out of context.

1. Request: move the ledger package from floats to Decimal. The JSON export must keep exactly two \
decimals and stay numbers; half cents round away from zero; no new dependency.
2. Done: ledger/money.py (amount, cents with ROUND_HALF_UP, show, parse), ledger/lines.py, \
ledger/discount.py (spread gives the rest to the largest line), ledger/invoice.py.
3. State of the tests: 4 of 6 fail, and only because they compare Decimals with binary floats; \
the amounts themselves are right.
4. Open: the expectations in tests/, then ledger/export.py, which cannot write a Decimal yet."""

AFTER_COMPACTION: list[Step] = STEPS[PAUSE : PAUSE + 14]
