"""How many of many similar examples a test tries: some in CI, fewer under sanitizers, all in Examples.All of the label long."""
import os


def some(examples, every):
    """One of each `every` in a row, the first of the first ones, the second of the next ones and so on: of a product of lists each element has
    its turn. DLASIM_EXAMPLES=all takes all, a number takes one of that many times `every`."""
    wanted, examples = os.environ.get("DLASIM_EXAMPLES", "1"), list(examples)
    every = 1 if wanted == "all" else every * int(wanted)
    return [examples[min(first + first // every % every, len(examples) - 1)] for first in range(0, len(examples), every)]
