"""The experiments of scripts/figures/EXPERIMENTS.md, a file for each source of published figures; the command is scripts/experiments.py."""
