"""Curves implemented differently from ZCube's: with bit strings, and literally as in Skilling's paper."""


def interleave_bytes(values):
    """Interleave 32-bit values by strings of '0' and '1'."""
    strings = [format(value & 0xFFFFFFFF, "032b") for value in values]
    bits = "".join(s[i] for i in range(32) for s in strings)
    return int(bits, 2).to_bytes(4 * len(values), "big")


def morton(point, bits):
    """Position of a point on the Z-order curve, first coordinate most significant."""
    strings = [format(value, f"0{bits}b") for value in point]
    return int("".join(s[i] for i in range(bits) for s in strings), 2)


def hilbert_by_gluing(bits):
    """The cells (x, y) of a square along the curve, composed of four smaller squares.

    Each curve of one more bit is four copies of the one before: the first mirrored at the diagonal,
    two as they are, the last mirrored at the other diagonal.
    """
    cells = [(0, 0)]
    for level in range(bits):
        side = 1 << level
        mirrored = [(y, x) for x, y in cells]
        last = [(2 * side - 1 - y, side - 1 - x) for x, y in cells]
        cells = (
            mirrored
            + [(x, y + side) for x, y in cells]
            + [(x + side, y + side) for x, y in cells]
            + last
        )
    return cells


def hilbert(point, bits):
    """Position of a point on Skilling's curve: the paper's AxestoTranspose, on lists of bits."""
    x = list(point)
    n = len(x)
    if n == 1:
        return x[0]
    q = 1 << (bits - 1)
    while q > 1:
        p = q - 1
        for i in range(n):
            if x[i] & q:
                x[0] ^= p
            else:
                t = (x[0] ^ x[i]) & p
                x[0] ^= t
                x[i] ^= t
        q >>= 1
    for i in range(1, n):
        x[i] ^= x[i - 1]
    t = 0
    q = 1 << (bits - 1)
    while q > 1:
        if x[n - 1] & q:
            t ^= q - 1
        q >>= 1
    return morton([v ^ t for v in x], bits)


def ranks(values, scale):
    """Rank of each value: the middle of its share of the rows, on a scale of that many steps."""
    total = len(values)
    ordered = sorted(v for v in values if v is not None)
    nulls = total - len(ordered)
    result = {None: 0}
    for value in set(ordered):
        below = nulls + sum(1 for v in ordered if v < value)
        share = sum(1 for v in ordered if v == value)
        result[value] = min(scale - 1, int((below + share / 2) / total * scale))
    return [result[v] for v in values]
