"""Tests against an HTTP server with the API's contract: `python3 -m unittest`, in the folder above."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
