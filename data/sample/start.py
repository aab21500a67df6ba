"""The sample's first tree: a small library that keeps track of a kitchen's stock."""

# Files that are not plain UTF-8 text with `\n` line ends. The sources here are always written with `\n`.
LATIN_1 = {"src/pantry/aliases.py", "tests/data/aliases.txt"}
CRLF = {"src/pantry/labels.py"}

FILES = {
    "README.md": """\
# Pantry

What is in the kitchen, what is missing for dinner, and what it costs.

    from pantry.stock import Stock

    stock = Stock()
    stock.add("flour", "500 g")
    stock.take("flour", "2 tbsp")

Units are described in `docs/units.md`, the stock in `docs/stock.md`.
""",
    "CHANGELOG.md": """\
# Changes

## Unreleased
""",
    "pyproject.toml": """\
[build-system]
requires = ["flit_core ==3.9.0"]
build-backend = "flit_core.buildapi"

[project]
name = "pantry-sample"
version = "0.1.0"
description = "What is in the kitchen, and what is missing for dinner"
requires-python = ">=3.8"
readme = "README.md"

[project.optional-dependencies]
test = ["pytest >=7"]

[tool.flit.module]
name = "pantry"

[tool.pytest.ini_options]
testpaths = ["tests"]
""",
    "docs/units.md": """\
# Units

Mass: `g`, `kg`, `oz`. Volume: `ml`, `l`, `tsp`, `tbsp`, `cup`. Count: `piece`.
""",
    "docs/stock.md": """\
# Stock

`Stock.add(name, amount)` puts something on the shelf, `Stock.take(name, amount)` takes it down.
""",
    "src/pantry/__init__.py": '''\
"""What is in the kitchen, what is missing for dinner, and what it costs."""
''',
    "src/pantry/units.py": '''\
"""Kitchen units: what they measure, and how one becomes another."""

from fractions import Fraction

_UNITS = {
    "g": ("mass", Fraction(1)),
    "kg": ("mass", Fraction(1000)),
    "oz": ("mass", Fraction("28.349523125")),
    "ml": ("volume", Fraction(1)),
    "l": ("volume", Fraction(1000)),
    "tsp": ("volume", Fraction(5)),
    "tbsp": ("volume", Fraction(15)),
    "cup": ("volume", Fraction(240)),
    "piece": ("count", Fraction(1)),
}


class UnitError(ValueError):
    """A unit that is unknown, or that measures something else."""


def kind(unit):
    """What a unit measures: `mass`, `volume` or `count`."""
    try:
        return _UNITS[unit][0]
    except KeyError:
        raise UnitError("unknown unit: %r" % unit) from None


def convert(amount, source, target):
    """`amount` of `source` in units of `target`, exactly."""
    if kind(source) != kind(target):
        raise UnitError("%s is no %s" % (source, kind(target)))
    return Fraction(amount) * _UNITS[source][1] / _UNITS[target][1]


def parse(text):
    """Reads `500 g` or `1/2 cup`; a bare number counts pieces."""
    number, _, unit = text.strip().partition(" ")
    unit = unit.strip() or "piece"
    kind(unit)
    return Fraction(number), unit
''',
    "src/pantry/stock.py": '''\
"""What is on the shelf."""

from fractions import Fraction

from pantry.units import convert, parse


class Stock:
    """Amounts by name. The first amount of a thing decides the unit it is kept in."""

    def __init__(self):
        self._shelf = {}

    def __contains__(self, name):
        return name in self._shelf

    def add(self, name, amount, best_before=None):
        """Puts `amount` of `name` on the shelf; `best_before` is a `datetime.date`."""
        number, unit = parse(amount)
        held, kept_in, date = self._shelf.get(name, (Fraction(0), unit, None))
        dates = [day for day in (date, best_before) if day is not None]
        self._shelf[name] = (held + convert(number, unit, kept_in), kept_in, min(dates, default=None))

    def amount(self, name, unit):
        """How much of `name` there is, in `unit`."""
        if name not in self._shelf:
            return Fraction(0)
        held, kept_in, _ = self._shelf[name]
        return convert(held, kept_in, unit)

    def take(self, name, amount):
        """Takes `amount` of `name` down."""
        number, unit = parse(amount)
        held, kept_in, date = self._shelf[name]
        self._shelf[name] = (held - convert(number, unit, kept_in), kept_in, date)
''',
    "src/pantry/recipes.py": '''\
"""Recipes: what goes in."""

from fractions import Fraction

from pantry.units import parse


class Recipe:
    """A dish: ingredients by name, each an amount and a unit."""

    def __init__(self, title, ingredients, servings=1):
        self.title = title
        self.servings = servings
        self.ingredients = dict(ingredients)

    @classmethod
    def read(cls, text):
        """Reads a title line and lines such as `flour: 200 g`."""
        title, *lines = [line.strip() for line in text.strip().splitlines()]
        ingredients = {}
        for line in filter(None, lines):
            name, _, amount = line.partition(":")
            ingredients[name.strip()] = parse(amount)
        return cls(title, ingredients)

    def total(self, unit_weights):
        """The dish's weight in grams; `unit_weights` gives the grams of one unit."""
        return sum((amount * unit_weights[unit] for amount, unit in self.ingredients.values()), Fraction(0))
''',
    "src/pantry/shopping.py": '''\
"""What is missing for dinner."""

from pantry.units import convert


def missing(recipe, stock):
    """What the stock lacks for a recipe: `(name, amount, unit)`, in the recipe's order."""
    lacking = []
    for name, (amount, unit) in recipe.ingredients.items():
        short = amount - stock.amount(name, unit)
        if short >= 0:
            lacking.append((name, short, unit))
    return lacking


def fits(recipe, stock, unit="g"):
    """Whether the stock holds at least as much of every ingredient, compared in `unit`."""
    return all(
        stock.amount(name, unit) >= convert(amount, source, unit)
        for name, (amount, source) in recipe.ingredients.items()
    )
''',
    "src/pantry/money.py": '''\
"""Prices, in cents."""


def read_price(text):
    """Cents of a price such as `2.50` or `1,250.00`."""
    whole, _, cents = text.replace(",", "").partition(".")
    return int(whole) * 100 + int((cents + "00")[:2])


def show_price(cents):
    """A price with two decimals."""
    return "%d.%02d" % divmod(cents, 100)


def share(cents, people):
    """Splits a sum fairly: the first ones pay the odd cents."""
    each, odd = divmod(cents, people)
    return [each + 1] * odd + [each] * (people - odd)
''',
    "src/pantry/labels.py": '''\
"""Labels for jars. This file has Windows line ends, as its author left it."""

WIDTH = 20


def label(name, date=None):
    """One line for a jar: the name, and the date at the right edge."""
    if date is None:
        return name.title()
    day = date.strftime("%d.%m.%y")
    return name.title().ljust(WIDTH - len(day)) + day


def sheet(names):
    """A sheet of labels, one a line."""
    return "\\n".join(label(name) for name in names)
''',
    "src/pantry/aliases.py": '''\
# -*- coding: latin-1 -*-
"""Other names of the same thing. This file is in Latin-1, as its author left it."""

_ALIASES = {
    "crème": "cream",
    "zwieback": "rusk",
}


def canonical(name):
    """The name that the stock uses."""
    return _ALIASES.get(name.lower(), name.lower())


def read_list(path):
    """Reads a shopping list in Latin-1, one name a line."""
    with open(path, encoding="latin-1") as lines:
        return [canonical(line.strip()) for line in lines if line.strip()]
''',
    "src/pantry/reminders.py": '''\
"""Reminders: wait until the dough has risen."""

import time


def wait_until(due, now=time.monotonic, nap=0.05):
    """Returns once `now()` has reached `due` (seconds)."""
    while now() != due:
        time.sleep(nap)
    return due
''',
    "src/pantry/cli.py": '''\
"""The command line: `pantry convert 2 cup ml`."""

import sys

from pantry.units import UnitError, convert


def main(arguments=None):
    """Runs one command and returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) != 4 or arguments[0] != "convert":
        print("usage: pantry convert AMOUNT FROM TO", file=sys.stderr)
        return 2
    try:
        print(convert(*arguments[1:]))
    except UnitError as error:
        print("pantry: %s" % error, file=sys.stderr)
        return 1
    return 0
''',
    "tests/test_units.py": '''\
from fractions import Fraction

import pytest

from pantry.units import UnitError, convert, kind, parse


def test_convert_is_exact():
    assert convert(1, "cup", "tbsp") == 16
    assert convert("1/3", "l", "ml") == Fraction(1000, 3)


def test_convert_refuses_another_kind():
    with pytest.raises(UnitError, match="g is no volume"):
        convert(1, "g", "ml")


@pytest.mark.parametrize("text, expected", [("500 g", (500, "g")), ("1/2 cup", (Fraction(1, 2), "cup"))])
def test_parse(text, expected):
    assert parse(text) == expected


def test_a_bare_number_counts_pieces():
    assert parse("3") == (3, "piece")
    assert kind("piece") == "count"
''',
    "tests/test_stock.py": '''\
import datetime

from pantry.stock import Stock

MONDAY = datetime.date(2024, 10, 7)


def test_amounts_add_up_across_units():
    stock = Stock()
    stock.add("flour", "1 kg")
    stock.add("flour", "250 g")
    assert stock.amount("flour", "g") == 1250


def test_take():
    stock = Stock()
    stock.add("milk", "1 l", best_before=MONDAY)
    stock.take("milk", "1 cup")
    assert stock.amount("milk", "ml") == 760
    assert "milk" in stock


def test_nothing_is_zero():
    assert Stock().amount("salt", "g") == 0
''',
    "tests/test_recipes.py": '''\
from pantry.recipes import Recipe

PANCAKES = """
Pancakes
flour: 200 g
milk: 300 ml
egg: 2
"""


def test_read():
    recipe = Recipe.read(PANCAKES)
    assert recipe.title == "Pancakes"
    assert recipe.ingredients["egg"] == (2, "piece")


def test_total():
    assert Recipe.read(PANCAKES).total({"g": 1, "ml": 1, "piece": 60}) == 620
''',
    "tests/test_shopping.py": '''\
from pantry.recipes import Recipe
from pantry.shopping import fits, missing
from pantry.stock import Stock

BREAD = Recipe.read("Bread\\nflour: 500 g\\nsalt: 10 g")


def test_missing():
    stock = Stock()
    stock.add("flour", "0.3 kg")
    assert missing(BREAD, stock) == [("flour", 200, "g"), ("salt", 10, "g")]


def test_fits():
    stock = Stock()
    stock.add("flour", "1 kg")
    assert not fits(BREAD, stock)
    stock.add("salt", "1 oz")
    assert fits(BREAD, stock)
''',
    "tests/test_money.py": '''\
from pantry.money import read_price, share, show_price


def test_read_price():
    assert read_price("2.50") == 250
    assert read_price("3") == 300


def test_thousands_have_commas():
    assert read_price("1,250.00") == 125000


def test_show_price():
    assert show_price(125) == "1.25"


def test_share():
    assert share(100, 3) == [34, 33, 33]
''',
    "tests/test_labels.py": '''\
import datetime

from pantry.labels import WIDTH, label, sheet


def test_a_date_stands_at_the_right_edge():
    text = label("plum jam", datetime.date(2024, 8, 30))
    assert text == "Plum Jam    30.08.24"
    assert len(text) == WIDTH


def test_sheet():
    assert sheet(["salt", "sugar"]) == "Salt\\nSugar"
''',
    "tests/test_aliases.py": '''\
import pathlib

from pantry.aliases import canonical, read_list

LIST = pathlib.Path(__file__).parent / "data" / "aliases.txt"


def test_canonical():
    assert canonical("Cr\\xe8me") == "cream"
    assert canonical("Salt") == "salt"


def test_read_list():
    assert read_list(LIST)[:2] == ["cream", "rusk"]
''',
    "tests/data/aliases.txt": "Crème\nZwieback\n",
    "tests/test_reminders.py": '''\
from pantry.reminders import wait_until


def test_returns_when_it_is_time():
    assert wait_until(3, now=iter([1, 2, 3]).__next__, nap=0) == 3
''',
    "tests/test_cli.py": '''\
from pantry.cli import main


def test_convert(capsys):
    assert main(["convert", "2", "cup", "ml"]) == 0
    assert capsys.readouterr().out == "480\\n"


def test_usage(capsys):
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
''',
}
