"""Tests of the helper modules and the examples: `python3 -m unittest`, in the folder above."""
