"""The experiments of docs/EXPERIMENTS.md, a file for each source of published figures; the command is scripts/experiments.py."""
