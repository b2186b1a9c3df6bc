"""A table of a page of docs, between two marks with its name. Python standard library only."""


def write_table(page, name, table):
    """`page`: a pathlib.Path; raises ValueError if it has no such marks."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    head, rest = page.read_text().split(begin, 1)
    page.write_text(f"{head}{begin}\n{table}\n{end}{rest.split(end, 1)[1]}")
