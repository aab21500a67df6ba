"""The sample's history: every pull request, what it is made to show, and how it must end.

Events happen in the order written. A pull request forks from `main` as it is at that point (or from `fork`, a
named earlier state) and lands at its `landed` date, so dates only ever grow. All dates lie between two releases of
everything the tests need, so that every base commit resolves to the same lock.
"""

ADA = "Ada Quill <ada@example.org>"
NOOR = "Noor Halim <noor@example.org>"
ZOE = "Zoë Quist <zoe@example.org>"
SAM = "Sam Ferro <sam@example.org>"
FORGE = "Forge <noreply@example.org>"


class Edit:
    """One change of a file: new content, a replacement, a move or a deletion."""

    def __init__(self, path, old=None, new=None, moved_to=None):
        self.path, self.old, self.new, self.moved_to = path, old, new, moved_to


def create(path, text):
    """A new file."""
    return Edit(path, new=text)


def edit(path, old, new):
    """Replaces `old`, which must occur exactly once."""
    return Edit(path, old, new)


def append(path, text):
    """Adds text at a file's end."""
    return Edit(path, "", text)


def move(path, to):
    """Another path for a file."""
    return Edit(path, moved_to=to)


class Pull:
    """A pull request: its commits `(date, message, edits)`, how it lands, and how it must end."""

    def __init__(self, number, shows, author, title, commits, merge=None, landed=None, **more):
        self.number, self.shows, self.author, self.title = number, shows, author, title
        self.commits, self.merge, self.landed = commits, merge, landed
        self.branch = more.pop("branch", "main")  # where it lands
        self.fork = more.pop("fork", None)  # a named state it forks from, instead of the branch as it is
        self.sync = more.pop("sync", None)  # a date at which main is merged into it, before its last commit
        self.body = more.pop("body", "")  # the squash or merge commit's text
        self.expect = more.pop("expect")
        assert not more, more


class Push:
    """A commit made on a branch without a pull request."""

    def __init__(self, date, author, message, edits, branch="main"):
        self.date, self.author, self.message, self.edits, self.branch = date, author, message, edits, branch


class Name:
    """Names the state of a branch, for pull requests that fork from it later."""

    def __init__(self, name, branch="main"):
        self.name, self.branch = name, branch


class Branch:
    """A new branch at `main`."""

    def __init__(self, name):
        self.name = name


class Tag:
    """A tag on a branch; with a message it is an annotated one."""

    def __init__(self, name, branch, date=None, message=None):
        self.name, self.branch, self.date, self.message = name, branch, date, message


def instance(fail_to_pass, pass_to_pass=(), before="failed", **more):
    """It becomes an instance with these tests; `before` is how its FAIL_TO_PASS tests look before gold."""
    return dict(outcome="instance", fail_to_pass=fail_to_pass, pass_to_pass=list(pass_to_pass), before_gold=before, **more)


def dropped(rule, verdict="drop"):
    """The rule that stops it, and what that rule says."""
    return dict(outcome="dropped", rule=rule, verdict=verdict)


def infra(reason):
    """Its tests could not be judged: the outside's fault, by the reason's word."""
    return dict(outcome="infra", reason=reason)


UNMERGED = dict(outcome="unmerged")

UNITS = [
    "tests/test_units.py::test_a_bare_number_counts_pieces",
    "tests/test_units.py::test_convert_is_exact",
    "tests/test_units.py::test_convert_refuses_another_kind",
    "tests/test_units.py::test_parse[1/2 cup-expected1]",
    "tests/test_units.py::test_parse[500 g-expected0]",
]

READ_MIXED_NUMBERS = [
    edit(
        "src/pantry/units.py",
        '''\
    """Reads `500 g` or `1/2 cup`; a bare number counts pieces."""
    number, _, unit = text.strip().partition(" ")
    unit = unit.strip() or "piece"
    kind(unit)
    return Fraction(number), unit
''',
        '''\
    """Reads `500 g`, `1/2 cup` or `1 1/2 cup`; a bare number counts pieces."""
    words = text.split()
    unit = words.pop() if words[-1][0].isalpha() else "piece"
    kind(unit)
    return sum(Fraction(word) for word in words), unit
''',
    ),
    append(
        "tests/test_units.py",
        '''

@pytest.mark.parametrize("text", ["1 1/2 cup", "1.5  cup", "3/2 cup"])
def test_parse_mixed_numbers(text):
    assert parse(text) == (Fraction(3, 2), "cup")


def test_parse_mixed_numbers_of_pieces():
    assert parse("2 1/2") == (Fraction(5, 2), "piece")
''',
    ),
]

READ_DECIMAL_COMMAS = [
    (
        "src/pantry/money.py",
        '''\
    """Cents of a price such as `2.50` or `1,250.00`."""
    whole, _, cents = text.replace(",", "").partition(".")
''',
        '''\
    """Cents of a price such as `2.50` or `2,50`."""
    whole, _, cents = text.replace(",", ".").partition(".")
''',
    ),
    (
        "tests/test_money.py",
        '''\
    assert read_price("3") == 300
''',
        '''\
    assert read_price("3") == 300


def test_read_decimal_comma():
    assert read_price("2,50") == 250
''',
    ),
]

EVENTS = [
    Push("2024-10-03 08:00", ADA, "Start the pantry\n", []),
    Tag("v0.1.0", "main", "2024-10-03 08:05", "Pantry 0.1.0\n"),
    Branch("0.1.x"),
    Push(
        "2024-10-03 08:10",
        ADA,
        "Open 0.2\n",
        [edit("pyproject.toml", 'version = "0.1.0"', 'version = "0.2.0.dev0"')],
    ),
    Name("opened"),
    Pull(
        2,
        "accepted bug fix, squash merge",
        ADA,
        "Read mixed numbers such as `1 1/2`",
        [
            ("2024-10-03 10:00", "Read mixed numbers\n", READ_MIXED_NUMBERS),
            (
                "2024-10-03 10:20",
                "Note it in the changelog\n",
                [append("CHANGELOG.md", "\n- `parse` reads mixed numbers such as `1 1/2 cup`.\n")],
            ),
        ],
        "squash",
        "2024-10-04 09:00",
        body="* Read mixed numbers\n\n* Note it in the changelog\n\nFixes #1\n",
        expect=instance(
            [
                "tests/test_units.py::test_parse_mixed_numbers[1 1/2 cup]",
                "tests/test_units.py::test_parse_mixed_numbers_of_pieces",
            ],
            UNITS
            + [
                "tests/test_units.py::test_parse_mixed_numbers[1.5  cup]",
                "tests/test_units.py::test_parse_mixed_numbers[3/2 cup]",
            ],
        ),
    ),
    Name("after 2"),
    Pull(
        3,
        "documentation only",
        NOOR,
        "Explain the units",
        [
            (
                "2024-10-04 11:00",
                "Explain the units\n",
                [append("docs/units.md", "\nOnly units of one kind convert into each other: a cup is no gram.\n")],
            )
        ],
        "squash",
        "2024-10-04 12:00",
        fork="opened",
        expect=dropped("changes-source"),
    ),
    Pull(
        5,
        "accepted feature, merge commit; main was merged into the branch on the way",
        NOOR,
        "List what expires soon",
        [
            (
                "2024-10-03 15:00",
                "List what expires soon\n\nCloses #4\n",
                [
                    append(
                        "src/pantry/stock.py",
                        '''
    def expiring(self, before):
        """Names of what is best before `before` or earlier, the most urgent first."""
        dated = [(date, name) for name, (_, _, date) in self._shelf.items() if date is not None]
        return [name for date, name in sorted(dated) if date <= before]
''',
                    ),
                    append(
                        "tests/test_stock.py",
                        '''

def test_expiring_names_the_most_urgent_first():
    stock = Stock()
    stock.add("yoghurt", "1 piece", best_before=MONDAY)
    stock.add("milk", "1 l", best_before=MONDAY - datetime.timedelta(days=1))
    stock.add("salt", "500 g")
    stock.add("rice", "1 kg", best_before=MONDAY + datetime.timedelta(days=90))
    assert stock.expiring(MONDAY) == ["milk", "yoghurt"]
''',
                    ),
                ],
            ),
            (
                "2024-10-05 09:00",
                "Describe `Stock.expiring`\n",
                [append("docs/stock.md", "\n`Stock.expiring(before)` names what must be used up, the most urgent first.\n")],
            ),
        ],
        "merge",
        "2024-10-05 10:00",
        fork="opened",
        sync="2024-10-05 08:30",
        expect=instance(
            ["tests/test_stock.py::test_expiring_names_the_most_urgent_first"],
            [
                "tests/test_stock.py::test_amounts_add_up_across_units",
                "tests/test_stock.py::test_nothing_is_zero",
                "tests/test_stock.py::test_take",
            ],
        ),
    ),
    Pull(
        6,
        "no tests",
        SAM,
        "Refuse to take more than there is",
        [
            (
                "2024-10-05 11:00",
                "Refuse to take more than there is\n",
                [
                    edit(
                        "src/pantry/stock.py",
                        '''\
        held, kept_in, date = self._shelf[name]
        self._shelf[name] = (held - convert(number, unit, kept_in), kept_in, date)
''',
                        '''\
        held, kept_in, date = self._shelf[name]
        left = held - convert(number, unit, kept_in)
        if left < 0:
            raise ValueError("not enough %s" % name)
        self._shelf[name] = (left, kept_in, date)
''',
                    )
                ],
            )
        ],
        "squash",
        "2024-10-06 09:00",
        body="Resolves #4\n",
        expect=dropped("changes-tests"),
    ),
    Pull(
        8,
        "accepted feature, rebase merge of two commits",
        ZOE,
        "Scale a recipe",
        [
            (
                "2024-10-04 16:00",
                "Let a recipe say how many it serves\n",
                [
                    edit(
                        "src/pantry/recipes.py",
                        '''\
        return cls(title, ingredients)
''',
                        '''\
        title, _, servings = title.partition(" for ")
        return cls(title, ingredients, int(servings or 1))
''',
                    ),
                ],
            ),
            (
                "2024-10-04 17:00",
                "Scale a recipe to other servings\n\nresolves: #7\n",
                [
                    append(
                        "src/pantry/recipes.py",
                        '''
    def scaled(self, servings):
        """The same dish for another number of people."""
        factor = Fraction(servings, self.servings)
        scaled = {name: (amount * factor, unit) for name, (amount, unit) in self.ingredients.items()}
        return Recipe(self.title, scaled, servings)
''',
                    ),
                    append(
                        "tests/test_recipes.py",
                        '''

def test_servings_stand_in_the_title():
    recipe = Recipe.read("Soup for 4\\nleek: 2")
    assert (recipe.title, recipe.servings) == ("Soup", 4)


def test_scaled():
    soup = Recipe.read("Soup for 4\\nleek: 2\\nwater: 1 l").scaled(6)
    assert soup.servings == 6
    assert soup.ingredients == {"leek": (3, "piece"), "water": (1.5, "l")}
''',
                    ),
                ],
            ),
        ],
        "rebase",
        "2024-10-06 10:00",
        fork="after 2",
        expect=instance(
            ["tests/test_recipes.py::test_scaled", "tests/test_recipes.py::test_servings_stand_in_the_title"],
            ["tests/test_recipes.py::test_read", "tests/test_recipes.py::test_total"],
        ),
    ),
    Pull(
        10,
        "two source files",
        NOOR,
        "Write amounts as a cook would",
        [
            (
                "2024-10-07 09:00",
                "Write amounts as a cook would\n\nFixes #9\n",
                [
                    append(
                        "src/pantry/units.py",
                        '''

def show(amount, unit):
    """Writes an amount as `parse` reads it."""
    return str(amount) if unit == "piece" else "%s %s" % (amount, unit)
''',
                    ),
                    edit("src/pantry/recipes.py", "from pantry.units import parse\n", "from pantry.units import parse, show\n"),
                    append(
                        "src/pantry/recipes.py",
                        '''
    def __str__(self):
        lines = ["%s: %s" % (name, show(*amount)) for name, amount in self.ingredients.items()]
        return "\\n".join([self.title] + lines)
''',
                    ),
                    append(
                        "tests/test_recipes.py",
                        '''

def test_a_recipe_is_written_as_it_is_read():
    assert str(Recipe.read(PANCAKES)) == PANCAKES.strip()
''',
                    ),
                ],
            )
        ],
        "squash",
        "2024-10-07 12:00",
        expect=dropped("single-module"),
    ),
    Pull(
        12,
        "accepted bug fix, fast-forward: the branch moved to the head itself",
        SAM,
        "Do not list what is not missing",
        [
            (
                "2024-10-08 08:00",
                "Do not list what is not missing\n\nFixes #11.\n",
                [
                    edit("src/pantry/shopping.py", "        if short >= 0:\n", "        if short > 0:\n"),
                    append(
                        "tests/test_shopping.py",
                        '''

def test_just_enough_is_not_missing():
    stock = Stock()
    stock.add("flour", "500 g")
    stock.add("salt", "8 g")
    assert missing(BREAD, stock) == [("salt", 2, "g")]
''',
                    ),
                ],
            )
        ],
        "fast-forward",
        "2024-10-08 09:00",
        expect=instance(
            ["tests/test_shopping.py::test_just_enough_is_not_missing"],
            ["tests/test_shopping.py::test_fits", "tests/test_shopping.py::test_missing"],
        ),
    ),
    Pull(
        14,
        "gold breaks a test",
        ZOE,
        "Read decimal commas",
        [
            (
                "2024-10-08 10:00",
                "Read decimal commas\n\nCloses #13\n",
                [edit(path, old, new) for path, old, new in READ_DECIMAL_COMMAS],
            )
        ],
        "squash",
        "2024-10-08 11:00",
        expect=dropped("breaks-nothing"),
    ),
    Pull(
        15,
        "revert",
        ADA,
        'Revert "Read decimal commas"',
        [
            (
                "2024-10-08 12:00",
                'Revert "Read decimal commas (#14)"\n\nThis reverts commit {landed 14}.\n',
                [edit(path, new, old) for path, old, new in READ_DECIMAL_COMMAS],
            )
        ],
        "squash",
        "2024-10-08 12:30",
        body="Reverts quarry-bench/pantry#14: it broke thousands. Fixes #16.\n",
        expect=dropped("not-a-revert"),
    ),
    Pull(
        17,
        "backport to a release branch",
        ADA,
        "[0.1.x] Read mixed numbers such as `1 1/2`",
        [
            (
                "2024-10-08 13:00",
                "Read mixed numbers such as `1 1/2` (#2)\n\nFixes #1\n\n(cherry picked from commit {landed 2})\n",
                READ_MIXED_NUMBERS,
            )
        ],
        "squash",
        "2024-10-08 14:00",
        branch="0.1.x",
        body="Backport of #2. Fixes #1.\n\n(cherry picked from commit {landed 2})\n",
        expect=dropped("not-a-backport"),
    ),
    Tag("v0.1.1", "0.1.x"),
    Push(
        "2024-10-09 08:00",
        ADA,
        "Release 0.2.0\n\nThanks to all who helped, also for the ideas in #38 and the report (#37)\n",
        [
            edit("pyproject.toml", '"0.2.0.dev0"', '"0.2.0"'),
            edit("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n## 0.2.0\n"),
        ],
    ),
    Tag("v0.2.0", "main", "2024-10-09 08:05", "Pantry 0.2.0\n"),
    Pull(
        18,
        "the test already passes before gold",
        SAM,
        "Look a unit up in one place",
        [
            (
                "2024-10-09 09:00",
                "Look a unit up in one place\n\nFixes #9\n",
                [
                    edit(
                        "src/pantry/units.py",
                        '''\
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
''',
                        '''\
def _look_up(unit):
    try:
        return _UNITS[unit]
    except KeyError:
        raise UnitError("unknown unit: %r" % unit) from None


def kind(unit):
    """What a unit measures: `mass`, `volume` or `count`."""
    return _look_up(unit)[0]


def convert(amount, source, target):
    """`amount` of `source` in units of `target`, exactly."""
    (source_kind, source_size), (target_kind, target_size) = _look_up(source), _look_up(target)
    if source_kind != target_kind:
        raise UnitError("%s is no %s" % (source, target_kind))
    return Fraction(amount) * source_size / target_size
''',
                    ),
                    append(
                        "tests/test_units.py",
                        '''

def test_an_unknown_unit_is_named():
    with pytest.raises(UnitError, match="unknown unit: 'pinch'"):
        convert(1, "pinch", "g")
''',
                    ),
                ],
            )
        ],
        "squash",
        "2024-10-09 10:00",
        expect=dropped("fails-before"),
    ),
    Pull(
        20,
        "accepted feature with a flaky test, which is quarantined; merge commit",
        NOOR,
        "Name substitutes",
        [
            (
                "2024-10-10 09:00",
                "Name substitutes\n\nFixes #19\n",
                [
                    create(
                        "src/pantry/substitutes.py",
                        '''\
"""What can stand in for what."""

_GROUPS = [
    {"butter", "margarine", "ghee"},
    {"cream", "yoghurt", "quark"},
]


def substitutes(name):
    """What can stand in for `name`."""
    for group in _GROUPS:
        if name in group:
            return list(group - {name})
    return []
''',
                    ),
                    create(
                        "tests/test_substitutes.py",
                        '''\
from pantry.substitutes import substitutes


def test_ghee():
    assert substitutes("ghee") == ["butter", "margarine"]


def test_nothing_replaces_itself():
    assert "cream" not in substitutes("cream")


def test_nothing_replaces_salt():
    assert substitutes("salt") == []
''',
                    ),
                ],
            )
        ],
        "merge",
        "2024-10-10 10:00",
        expect=instance(
            [
                "tests/test_substitutes.py::test_nothing_replaces_itself",
                "tests/test_substitutes.py::test_nothing_replaces_salt",
            ],
            # The module is new, so what must still pass is the rest of the suite.
            [
                "tests/test_aliases.py::test_canonical",
                "tests/test_aliases.py::test_read_list",
                "tests/test_cli.py::test_convert",
                "tests/test_cli.py::test_usage",
                "tests/test_labels.py::test_a_date_stands_at_the_right_edge",
                "tests/test_labels.py::test_sheet",
                "tests/test_money.py::test_read_price",
                "tests/test_money.py::test_share",
                "tests/test_money.py::test_show_price",
                "tests/test_money.py::test_thousands_have_commas",
                "tests/test_recipes.py::test_a_recipe_is_written_as_it_is_read",
                "tests/test_recipes.py::test_read",
                "tests/test_recipes.py::test_scaled",
                "tests/test_recipes.py::test_servings_stand_in_the_title",
                "tests/test_recipes.py::test_total",
                "tests/test_reminders.py::test_returns_when_it_is_time",
                "tests/test_shopping.py::test_fits",
                "tests/test_shopping.py::test_just_enough_is_not_missing",
                "tests/test_shopping.py::test_missing",
                "tests/test_stock.py::test_amounts_add_up_across_units",
                "tests/test_stock.py::test_expiring_names_the_most_urgent_first",
                "tests/test_stock.py::test_nothing_is_zero",
                "tests/test_stock.py::test_take",
                "tests/test_units.py::test_a_bare_number_counts_pieces",
                "tests/test_units.py::test_an_unknown_unit_is_named",
                "tests/test_units.py::test_convert_is_exact",
                "tests/test_units.py::test_convert_refuses_another_kind",
                "tests/test_units.py::test_parse[1/2 cup-expected1]",
                "tests/test_units.py::test_parse[500 g-expected0]",
                "tests/test_units.py::test_parse_mixed_numbers[1 1/2 cup]",
                "tests/test_units.py::test_parse_mixed_numbers[1.5  cup]",
                "tests/test_units.py::test_parse_mixed_numbers[3/2 cup]",
                "tests/test_units.py::test_parse_mixed_numbers_of_pieces",
            ],
            before="collection-error",
            flaky=["tests/test_substitutes.py::test_ghee"],
        ),
    ),
    Pull(
        22,
        "only a flaky test tells: dropped",
        ZOE,
        "Name substitutes in a fixed order",
        [
            (
                "2024-10-11 09:00",
                "Name substitutes in a fixed order\n\nFixes #21\n",
                [
                    edit("src/pantry/substitutes.py", "list(group - {name})", "sorted(group - {name})"),
                    append(
                        "tests/test_substitutes.py",
                        '''

def test_substitutes_are_sorted():
    assert substitutes("yoghurt") == ["cream", "quark"]
''',
                    ),
                ],
            )
        ],
        "squash",
        "2024-10-11 10:00",
        expect=dropped("fails-before"),
    ),
    Pull(
        24,
        "hang: before gold the test waits for ever",
        SAM,
        "Return when the time has already passed",
        [
            (
                "2024-10-12 09:00",
                "Return when the time has already passed\n\nFixes #23\n",
                [
                    edit("src/pantry/reminders.py", "    while now() != due:\n", "    while now() < due:\n"),
                    append(
                        "tests/test_reminders.py",
                        '''

def test_returns_when_the_time_has_passed():
    assert wait_until(1, now=lambda: 2) == 1
''',
                    ),
                ],
            )
        ],
        "squash",
        "2024-10-12 10:00",
        expect=infra("time-out"),
    ),
    Pull(
        26,
        "crash: after gold the test ends the process, and no word of it comes back",
        ZOE,
        "Leave at once when told to",
        [
            (
                "2024-10-13 09:00",
                "Leave at once when told to\n\nFixes #25\n",
                [
                    edit("src/pantry/cli.py", "import sys\n", "import os\nimport sys\n"),
                    edit(
                        "src/pantry/cli.py",
                        "    if len(arguments) != 4 or",
                        '''\
    if arguments == ["quit"]:
        os._exit(3)
    if len(arguments) != 4 or''',
                    ),
                    append(
                        "tests/test_cli.py",
                        '''

def test_quit():
    assert main(["quit"]) == 3
''',
                    ),
                ],
            )
        ],
        "merge",
        "2024-10-13 10:00",
        expect=infra("lost-channel"),
    ),
    Pull(
        28,
        "collection error before gold: the tests import a name that gold adds",
        NOOR,
        "Sort the shopping list by aisle",
        [
            (
                "2024-10-14 09:00",
                "Sort the shopping list by aisle\n\nImplements what #27 asks for; closes #27\n",
                [
                    append(
                        "src/pantry/shopping.py",
                        '''

def by_aisle(lacking, aisles):
    """The same list in the order of the shop's aisles; what is in none comes last."""
    return sorted(lacking, key=lambda line: aisles.index(line[0]) if line[0] in aisles else len(aisles))
''',
                    ),
                    edit(
                        "tests/test_shopping.py",
                        "from pantry.shopping import fits, missing\n",
                        "from pantry.shopping import by_aisle, fits, missing\n",
                    ),
                    append(
                        "tests/test_shopping.py",
                        '''

def test_by_aisle():
    lacking = missing(BREAD, Stock())
    assert [name for name, _, _ in by_aisle(lacking, ["salt"])] == ["salt", "flour"]
''',
                    ),
                ],
            )
        ],
        "squash",
        "2024-10-14 10:00",
        expect=instance(
            [
                "tests/test_shopping.py::test_by_aisle",
                "tests/test_shopping.py::test_fits",
                "tests/test_shopping.py::test_just_enough_is_not_missing",
                "tests/test_shopping.py::test_missing",
            ],
            before="collection-error",
        ),
    ),
    Pull(
        30,
        "files that are not UTF-8",
        ZOE,
        "Know more aliases",
        [
            (
                "2024-10-15 09:00",
                "Know more aliases\n\nFixes #29\n",
                [
                    edit("src/pantry/aliases.py", '    "crème": "cream",\n', '    "crème": "cream",\n    "pâté": "spread",\n'),
                    edit("tests/data/aliases.txt", "Zwieback\n", "Zwieback\nPâté\n"),
                    append(
                        "tests/test_aliases.py",
                        '''

def test_spread():
    assert read_list(LIST)[2] == "spread"
''',
                    ),
                ],
            )
        ],
        "squash",
        "2024-10-15 10:00",
        expect=instance(
            ["tests/test_aliases.py::test_spread"],
            ["tests/test_aliases.py::test_canonical", "tests/test_aliases.py::test_read_list"],
        ),
    ),
    Pull(
        32,
        "a source file with Windows line ends, and a test file without a final newline",
        SAM,
        "Cut long names on labels",
        [
            (
                "2024-10-16 09:00",
                "Cut long names on labels\n\nFixes https://github.com/quarry-bench/pantry/issues/31\n",
                [
                    edit(
                        "src/pantry/labels.py",
                        "    return name.title().ljust(WIDTH - len(day)) + day\n",
                        "    room = WIDTH - len(day)\n    return name.title()[: room - 1].ljust(room) + day\n",
                    ),
                    append(
                        "tests/test_labels.py",
                        '''

def test_a_long_name_is_cut():
    assert label("green tomato chutney", datetime.date(2024, 8, 30)) == "Green Tomat 30.08.24"''',
                    ),
                ],
            )
        ],
        "squash",
        "2024-10-16 10:00",
        expect=instance(
            ["tests/test_labels.py::test_a_long_name_is_cut"],
            ["tests/test_labels.py::test_a_date_stands_at_the_right_edge", "tests/test_labels.py::test_sheet"],
        ),
    ),
    Pull(
        34,
        "a source file is renamed; rebase merge of one commit",
        ADA,
        "Call money prices",
        [
            (
                "2024-10-16 12:00",
                "Call money prices\n\nFixes #33\n",
                [
                    move("src/pantry/money.py", "src/pantry/prices.py"),
                    edit("src/pantry/prices.py", "def share(cents, people):\n", "def split(cents, people):\n"),
                    move("tests/test_money.py", "tests/test_prices.py"),
                    edit(
                        "tests/test_prices.py",
                        "from pantry.money import read_price, share, show_price\n",
                        "from pantry.prices import read_price, show_price, split\n",
                    ),
                    edit("tests/test_prices.py", "def test_share():\n", "def test_split():\n"),
                    edit("tests/test_prices.py", "assert share(100, 3)", "assert split(100, 3)"),
                ],
            )
        ],
        "rebase",
        "2024-10-17 10:00",
        expect=instance(
            [
                "tests/test_prices.py::test_read_price",
                "tests/test_prices.py::test_show_price",
                "tests/test_prices.py::test_split",
                "tests/test_prices.py::test_thousands_have_commas",
            ],
            before="collection-error",
        ),
    ),
    Pull(
        35,
        "no issue is named",
        NOOR,
        "Round a price to five cents",
        [
            (
                "2024-10-18 09:00",
                "Round a price to five cents\n",
                [
                    append(
                        "src/pantry/prices.py",
                        '''

def in_cash(cents):
    """The price in a shop without one-cent coins."""
    return (cents + 2) // 5 * 5
''',
                    ),
                    create(
                        "tests/test_cash.py",
                        '''\
from pantry import prices


def test_in_cash():
    assert [prices.in_cash(cents) for cents in (101, 102, 103)] == [100, 100, 105]
''',
                    ),
                ],
            )
        ],
        "squash",
        "2024-10-18 10:00",
        expect=dropped("resolves-issue", "undecided"),
    ),
    Pull(
        36,
        "tests only",
        SAM,
        "Test ounces",
        [
            (
                "2024-10-19 09:00",
                "Test ounces\n\nFixes #9\n",
                [
                    append(
                        "tests/test_units.py",
                        '''

def test_sixteen_ounces_are_a_pound():
    assert convert(16, "oz", "g") == Fraction("453.59237")
''',
                    )
                ],
            )
        ],
        "squash",
        "2024-10-19 10:00",
        expect=dropped("changes-source"),
    ),
    Pull(
        42,
        "crash: after gold a signal ends the process",
        SAM,
        "Ring when the time is up",
        [
            (
                "2024-10-19 12:00",
                "Ring when the time is up\n\nFixes #41\n",
                [
                    create(
                        "src/pantry/timer.py",
                        '''\
"""A kitchen timer."""

import signal


def ring():
    """Rings; whoever wants to go on after that must listen for `SIGALRM`."""
    signal.raise_signal(signal.SIGALRM)
    return True
''',
                    ),
                    create(
                        "tests/test_timer.py",
                        '''\
from pantry.timer import ring


def test_ring():
    assert ring()
''',
                    ),
                ],
            )
        ],
        "squash",
        "2024-10-19 13:00",
        expect=infra("crash"),
    ),
    Pull(
        37,
        "never merged, though a release message ends in its number",
        SAM,
        "Weigh in stones",
        [
            (
                "2024-10-06 18:00",
                "Weigh in stones\n\nFixes #9\n",
                [edit("src/pantry/units.py", '    "ml": (', '    "stone": ("mass", Fraction("6350.29318")),\n    "ml": (')],
            )
        ],
        fork="opened",
        expect=UNMERGED,
    ),
    Pull(
        38,
        "closed: another pull request did the same in another way",
        SAM,
        "Group the shopping list",
        [
            (
                "2024-10-07 18:00",
                "Group the shopping list\n\nCloses #27\n",
                [
                    append(
                        "src/pantry/shopping.py",
                        '''

def grouped(lacking, aisles):
    """The shopping list by aisle."""
    return {aisle: [line for line in lacking if line[0] in names] for aisle, names in aisles.items()}
''',
                    )
                ],
            )
        ],
        fork="after 2",
        expect=UNMERGED,
    ),
    Pull(
        39,
        "open, with main merged into it",
        ZOE,
        "Print labels in two columns",
        [
            (
                "2024-10-10 12:00",
                "Print labels in two columns\n",
                [edit("src/pantry/labels.py", "WIDTH = 20\n", "WIDTH = 20\nCOLUMNS = 2\n")],
            ),
            (
                "2024-10-20 12:00",
                "Use the columns\n",
                [edit("src/pantry/labels.py", "def sheet(names):\n", "def sheet(names, columns=COLUMNS):\n")],
            ),
        ],
        fork="after 2",
        sync="2024-10-20 11:00",
        expect=UNMERGED,
    ),
    Pull(
        40,
        "open, built on another pull request's branch that was squashed",
        NOOR,
        "Draft: read ranges such as `2-3`",
        [
            (
                "2024-10-20 14:00",
                "Read ranges\n",
                [edit("src/pantry/units.py", "    words = text.split()\n", '    words = text.replace("-", " ").split()\n')],
            )
        ],
        fork="head 2",
        expect=UNMERGED,
    ),
]
