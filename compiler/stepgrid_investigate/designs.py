"""Designs of large grids: one axis at a time, samples, Latin squares, fractions, and pairs. Pure, without numpy.

All put the axes that decide a load first, and have as few loads as what they promise leaves them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from math import isqrt, prod
from random import Random

from stepgrid.model import units
from stepgrid.plugins.design import Design, DesignError, DesignRequest, DesignRows, Factor, Row

MOST_ROWS, MOST_SAMPLED = 5_000, 1_000
MOST_ENUMERATED = 20_000  # points that are looked at one by one where chance finds none that is allowed
MOST_GROUPS, MOST_ALIKE = 6, 3  # that a note names
CANDIDATES = 24  # of each row that is chosen among several
MOST_WORK = 5_000_000  # values that are weighed for all rows of `pairs`: seconds; larger grids have fewer candidates
NEAREST = 200  # rows before it, of which the nearest counts
TRIES = 200  # to meet a row that the grid has


def one_at_a_time(request: DesignRequest) -> DesignRows:
    """Take the base, and from it each other value of each axis."""
    base = next(iter(_base(request)), None)
    if base is None:
        raise DesignError("the grid has no cell at the base", "`report: {base: …}` names one that it has")
    neighbours = [_with(base, at, value) for at, factor in enumerate(request.factors) for value in range(factor.values)]
    return DesignRows([row for row in dict.fromkeys((base, *neighbours)) if request.allows(row)])


def _base(request: DesignRequest) -> list[Row]:
    """Return the base, which a report compares others with, where the grid has it."""
    base = tuple(factor.base for factor in request.factors)
    return [base] if request.allows(base) else []


def _with(row: Row, at: int, value: int) -> Row:
    return (*row[:at], value, *row[at + 1 :])


# Samples: each next row is the one of several that is farthest from those before, of values that were used least.
# More rows begin with the same ones, so that a larger sample goes on where a smaller one ended.


def sample(request: DesignRequest) -> DesignRows:
    number, factors, chooser = request.number or 0, request.factors, _Chooser(request)
    base = _base(request)
    deciding = [at for at, factor in enumerate(factors) if factor.decides_load]
    fewest = 3 + sum(factors[at].values - 1 for at in deciding)  # loads that tell the effects of what decides them
    loads: dict[Row, int] = {}
    rows: dict[Row, None] = {}
    used: list[Counter[int]] = [Counter() for _ in factors]
    for index in range(number):
        is_open = len(deciding) == len(factors) or len(loads) < fewest or len(loads) ** 2 <= index
        least_used = () if is_open else min(loads, key=loads.__getitem__)
        load_values = dict(zip(deciding, least_used, strict=False))
        row = chooser.farthest(index, used, rows, load_values) if index or not base else base[0]
        if row is None:
            break
        rows[row] = None
        load = tuple(row[at] for at in deciding)
        loads[load] = loads.get(load, 0) + 1
        for counts, value in zip(used, row, strict=True):
            counts[value] += 1
    missing = number - len(rows)
    return DesignRows(
        [*rows], [f"the grid has {units.counted(len(rows), 'cell')}, fewer than {number:,}"] if missing else []
    )


class _Chooser:
    def __init__(self, request: DesignRequest) -> None:
        self.factors, self.allows, self.seed = request.factors, request.allows, request.seed
        # half for another value, up to one for the other end of the axis
        self.distances = [
            [[(value != other) * (0.5 + 0.5 * abs(value - other) / max(size - 1, 1)) for other in range(size)]
             for value in range(size)]
            for size in (factor.values for factor in request.factors)
        ]  # fmt: skip

    def farthest(
        self, index: int, used: Sequence[Counter[int]], rows: Iterable[Row], load_values: dict[int, int]
    ) -> Row | None:
        """Choose the next row that is not there yet: at the values of a load, else anywhere."""
        columns = [
            self._column(factor, index, counts, load_values.get(at))
            for at, (factor, counts) in enumerate(zip(self.factors, used, strict=True))
        ]
        before, nearest = set(rows), [*rows][-NEAREST:]
        lines = (tuple(map(next, columns)) for _ in range(TRIES))
        allowed = (row for row in lines if row not in before and self.allows(row))
        candidates = [*islice(allowed, CANDIDATES)] or [*islice(self._anywhere(index, before), CANDIDATES)]
        return max(candidates, key=lambda row: self._distance(row, nearest), default=None)

    def _column(self, factor: Factor, index: int, counts: Counter[int], value: int | None) -> Iterator[int]:
        """Yield candidates for a value by chance among those used least, for each axis by itself."""
        fewest = min(counts[number] for number in range(factor.values))
        values = [number for number in range(factor.values) if counts[number] == fewest] if value is None else [value]
        random = Random(f"{self.seed} {factor.name} {index}")
        while True:
            yield random.choice(values)

    def _anywhere(self, index: int, before: set[Row]) -> Iterator[Row]:
        sizes, random = [factor.values for factor in self.factors], Random(f"{self.seed} {index}")
        if prod(sizes) > MOST_ENUMERATED:
            rows: Iterable[Row] = (tuple(map(random.randrange, sizes)) for _ in range(MOST_ENUMERATED))
        else:
            rows = random.sample([*product(*map(range, sizes))], prod(sizes))
        return (row for row in rows if row not in before and self.allows(row))

    def _distance(self, row: Row, rows: Sequence[Row]) -> float:
        """Return how far a row is from the nearest."""
        tables = [table[value] for table, value in zip(self.distances, row, strict=True)]
        return min((sum(map(list.__getitem__, tables, other)) for other in rows), default=0.0)


def first_tries(request: DesignRequest) -> DesignRows:
    """Take the base, and points that fill the grid: where a search begins."""
    base = tuple(factor.base for factor in request.factors)
    return DesignRows([*dict.fromkeys([*([base] if request.allows(base) else []), *sample(request).rows])])


# Latin squares: of N values N² rows, in which each value of an axis meets each of every other axis equally often

_FOUR = ((0, 0, 0, 0), (0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 1, 2))  # products in the field of four elements


def latin(request: DesignRequest) -> DesignRows:
    """Use mutually orthogonal squares, of more values where the axes have no room; an axis of fewer repeats its own."""
    factors = _deciding_first([factor for factor in request.factors if factor.values > 1])
    size = max((factor.values for factor in factors), default=1)
    most = size + 2
    while len(factors) > (size + 1 if size == 4 or _is_prime(size) else 3):
        size += 1
    if size > most:
        message = f"{len(factors)} axes are too many for a Latin square of {most - 2} values"
        raise DesignError(message, "`fractional`, `pairs` and `sample: N` take any number of axes")
    _check_size(size * size)
    rows = []
    for first, second in product(range(size), repeat=2):
        squares = [_of_square(size, number, first, second) for number in range(len(factors) - 1)]
        line = zip(factors, (first, *squares), strict=False)
        values = {factor.name: (value + factor.base) % factor.values for factor, value in line}
        rows.append(tuple(values.get(factor.name, 0) for factor in request.factors))
    return _within_grid(rows, request)


def _of_square(size: int, number: int, first: int, second: int) -> int:
    if size == 4:
        return _FOUR[number][first] ^ second
    return (number * first + second) % size


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, isqrt(number) + 1))


def _deciding_first(factors: Sequence[Factor]) -> list[Factor]:
    return sorted(factors, key=lambda factor: not factor.decides_load)


def _check_size(rows: int) -> None:
    if rows > MOST_ROWS:
        raise DesignError(f"it has {rows:,} rows, more than {MOST_ROWS:,}", "`sample: N` has as many as it says")


def _within_grid(rows: Sequence[Row], request: DesignRequest) -> DesignRows:
    """Leave out what the grid does not have, which costs the balance."""
    unique = [*dict.fromkeys(rows)]
    allowed = [row for row in unique if request.allows(row)]
    lost = len(unique) - len(allowed)
    note = f"`when` and `exclude` take {lost} of its {len(unique)} rows: its effects are not told apart as cleanly"
    return DesignRows(allowed, [note] if lost else [])


# Fractions of two-level and three-level grids: a row is a word of a linear code, a column is what an axis adds up

THIRD, FOURTH, FIFTH = 3, 4, 5  # main effects apart from each other; from pairs; pairs apart from each other


def fractional(request: DesignRequest) -> DesignRows:
    resolution, notes = request.number or FOURTH, []
    columns: dict[str, list[int]] = {}  # by axis: its value in each row of its part
    lengths = []
    for levels in (2, 3):
        part = [factor for factor in _deciding_first(request.factors) if factor.values == levels]
        vectors = _independent(levels, len(part), resolution)
        for better in range(resolution + 1, FIFTH + 1):  # at no more rows
            other = _independent(levels, len(part), better)
            vectors = other if _length(other) == _length(vectors) else vectors
        words = [*product(range(levels), repeat=_length(vectors))]
        lengths.append(len(words))
        for factor, vector in zip(part, vectors, strict=True):
            columns[factor.name] = [_dot(word, vector, levels, factor.base) for word in words]
        notes += _confounded([factor.name for factor in part], vectors, levels)
    for factor in request.factors:
        if factor.values > 3:
            message = f"axis `{factor.name}` has {factor.values} values: a fraction takes two or three of each axis"
            raise DesignError(message, "`pairs`, `latin` and `sample: N` take any number")
    _check_size(prod(lengths))
    rows = [
        tuple(
            columns[factor.name][(two, three)[factor.values - 2]] if factor.values > 1 else 0
            for factor in request.factors
        )
        for two, three in product(*map(range, lengths))
    ]
    design = _within_grid(rows, request)
    return DesignRows(design.rows, [*notes, *design.notes])


def _length(vectors: Sequence[Row]) -> int:
    return len(vectors[0]) if vectors else 0


def _dot(word: Row, vector: Row, levels: int, base: int) -> int:
    return (sum(map(int.__mul__, word, vector)) + base) % levels


def _independent(levels: int, count: int, resolution: int) -> list[Row]:
    """Find a vector for each axis, as short as can be, any `resolution - 1` of which are independent.

    Greedy, in the order of numbers: the first axes get vectors of few places, and so few loads."""
    for size in range(max(1, count) + 1):
        chosen: list[Row] = []
        sums: list[set[Row]] = [{(0,) * size}]  # of at most so many of them, with factors
        for vector in (row[::-1] for row in product(range(levels), repeat=size)):
            if len(chosen) == count:
                break
            if vector in set().union(*sums) or next(filter(None, vector), 0) != 1:
                continue
            chosen.append(vector)
            multiples = [tuple(factor * part % levels for part in vector) for factor in range(1, levels)]
            grown = [sums[0]]
            for fewer, same in zip(sums, [*sums[1:], set()], strict=True):
                grown.append(same | {_add(one, other, levels) for one in fewer for other in multiples})
            sums = grown[: resolution - 1]
        if len(chosen) == count:
            return chosen
    raise AssertionError("unit vectors are independent")


def _add(one: Row, other: Row, levels: int) -> Row:
    return tuple((first + second) % levels for first, second in zip(one, other, strict=True))


def _confounded(names: Sequence[str], vectors: Sequence[Row], levels: int) -> list[str]:
    """Name axes and pairs of axes that move alike: the design cannot tell one from the other."""
    terms: dict[Row, list[str]] = {}
    for name, vector in zip(names, vectors, strict=True):
        terms.setdefault(_normal(vector, levels), []).append(f"`{name}`")
    for (first, one), (second, other) in combinations(zip(names, vectors, strict=True), 2):
        for factor in range(1, levels):
            total = _add(one, tuple(factor * part % levels for part in other), levels)
            terms.setdefault(_normal(total, levels), []).append(f"`{first}` × `{second}`")
    unique = [[*dict.fromkeys(members)] for members in terms.values()]
    groups = [
        " with ".join([*members[:MOST_ALIKE], *([f"{len(members) - MOST_ALIKE} more"] if members[MOST_ALIKE:] else [])])
        for members in unique
        if len(members) > 1
    ]
    return [f"confounded: {'; '.join(units.first([*dict.fromkeys(groups)], MOST_GROUPS))}"] if groups else []


def _normal(vector: Row, levels: int) -> Row:
    """Make the first place 1: multiples of a vector move alike."""
    lead = next(filter(None, vector), 1)
    return tuple(part * lead % levels for part in vector)  # of two and three levels, a number is its own inverse


# Pairs: a covering array, greedily; each next row has as many pairs that no row has yet as any of several


def pairs(request: DesignRequest) -> DesignRows:
    """Cover the pairs of what decides a load by loads, then all pairs within these loads where the grid allows."""
    factors = request.factors
    if not factors:
        return DesignRows(_base(request))
    deciding = [at for at, factor in enumerate(factors) if factor.decides_load]
    _check_size(max([one.values * other.values for one, other in combinations(factors, 2)], default=1))
    random, anywhere = Random(request.seed), _Cover(request, [(at,) for at in range(len(factors))], {})
    if not 0 < len(deciding) < len(factors):
        return anywhere.result(_base(request), random)
    part = DesignRequest(tuple(factors[at] for at in deciding), None, request.seed, lambda row: True)
    loads = _Cover(part, [(at,) for at in range(len(deciding))], {}).result(_base(part), random).rows
    groups = [tuple(deciding), *((at,) for at in range(len(factors)) if at not in deciding)]
    within = _Cover(request, groups, {tuple(deciding): loads})
    return anywhere.result(within.result(_base(request), random).rows, random)


class _Cover:
    """Rows of groups of axes: a group has the values of one axis, or those of the loads that are there."""

    def __init__(self, request: DesignRequest, groups: Sequence[Row], choices: dict[Row, Sequence[Row]]) -> None:
        self.request, self.groups = request, groups
        self.choices = {
            group: choices.get(group) or [(value,) for value in range(request.factors[group[0]].values)]
            for group in groups
        }
        sizes = [factor.values for factor in request.factors]
        rows = max([one * other for one, other in combinations(sizes, 2)], default=1)  # at least
        work = rows * len(sizes) * sum(len(group) * len(choices) for group, choices in self.choices.items())
        self.most_candidates = min(CANDIDATES, MOST_WORK // work)
        if not self.most_candidates:
            message = f"it has at least {rows:,} rows, which would take long to choose"
            raise DesignError(message, "`sample: N` has as many as it says")

    def result(self, first: Sequence[Row], random: Random) -> DesignRows:
        """Go on from the first rows until each pair is covered that a row of the grid has."""
        sizes, rows, impossible = [factor.values for factor in self.request.factors], [*first], 0
        # by axis, value and other axis, whether no row yet has the value with each of the other's
        self.is_open = [[[bytearray(b"\1" * other) for other in sizes] for _ in range(size)] for size in sizes]
        for row in rows:
            self._close(enumerate(row))
        for one, size in enumerate(sizes):
            for value in range(size):
                later_axes = range(one + 1, len(sizes)) if len(sizes) > 1 else (one,)
                for other, second in ((at, second) for at in later_axes for second in range(sizes[at])):
                    if not self.is_open[one][value][other][second] or (one == other and value != second):
                        continue
                    best = self._best({one: value, other: second}, random)
                    if best is None:
                        impossible += 1
                        self._close([(one, value), (other, second)])
                    else:
                        rows.append(best)
                        self._close(enumerate(best))
        note = f"{units.counted(impossible, 'pair')} of values has no cell in the grid"
        return DesignRows(rows, [note] if impossible else [])

    def _close(self, values: Iterable[tuple[int, int]]) -> None:
        for (one, value), (other, second) in product([*values], repeat=2):
            self.is_open[one][value][other][second] = 0

    def _best(self, fixed: dict[int, int], random: Random) -> Row | None:
        filled = (self._fill(fixed, random, greedy=number < self.most_candidates) for number in range(TRIES))
        allowed = (row for row in filled if row is not None and self.request.allows(row))
        candidates = [*islice(allowed, self.most_candidates)] or [*self._enumerated(fixed)]
        return max(candidates, key=self._count_new, default=None)

    def _count_new(self, row: Row) -> int:
        return sum(
            self.is_open[one][value][other][second] for (one, value), (other, second) in combinations(enumerate(row), 2)
        )

    def _fill(self, fixed: dict[int, int], random: Random, greedy: bool) -> Row | None:
        """Give each group, by chance first or later, the values with most new pairs, or any."""
        values = dict(fixed)
        for group in random.sample(self.groups, len(self.groups)):
            choices: Sequence[Row] = self.choices[group]
            if not fixed.keys().isdisjoint(group):
                choices = [
                    choice
                    for choice in choices
                    if all(fixed.get(at, value) == value for at, value in zip(group, choice, strict=True))
                ]
            if not choices:
                return None
            if greedy and len(choices) > 1:
                gains = self._gains(group, choices, values)
                most = max(gains)
                choices = [choice for choice, gain in zip(choices, gains, strict=True) if gain == most]
            values |= zip(group, random.choice(choices), strict=True)
        return tuple(values[at] for at in range(len(self.request.factors)))

    def _gains(self, group: Row, choices: Sequence[Row], values: Mapping[int, int]) -> list[int]:
        """Count the new pairs of each choice with what is assigned."""
        lines = [self.is_open[at][value] for at, value in values.items() if at not in group]
        by_axis = [[*map(sum, zip(*(line[at] for line in lines), strict=True))] for at in group]
        if not lines:
            return [0] * len(choices)
        return [sum(gains[value] for gains, value in zip(by_axis, choice, strict=True)) for choice in choices]

    def _enumerated(self, fixed: dict[int, int]) -> Iterator[Row]:
        sizes = [[fixed[at]] if at in fixed else range(f.values) for at, f in enumerate(self.request.factors)]
        if len(self.groups) == len(sizes) and prod(map(len, sizes)) <= MOST_ENUMERATED:
            yield from filter(self.request.allows, product(*sizes))


ONE_AT_A_TIME = Design(one_at_a_time)
SAMPLE = Design(sample, least=2, most=MOST_SAMPLED, proposed=40)
LATIN = Design(latin)
FRACTIONAL = Design(fractional, least=THIRD, most=FIFTH, default=FOURTH)
PAIRS = Design(pairs)
TUNE = Design(first_tries, least=2, most=MOST_SAMPLED)
