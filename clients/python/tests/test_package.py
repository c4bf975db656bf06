from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import longshore_client

from .messages import JOB_CALL, JOB_ID, Reply, completed, example, job_at, state
from .server import TestServer

FOLDER = Path(__file__).parents[1]


class PackageTests(unittest.TestCase):
    def test_the_documents_are_those_of_the_api(self):
        subprocess.run([sys.executable, FOLDER / "generate.py", "--check"], check=True)

    def test_every_exported_name_exists(self):
        for name in longshore_client.__all__:
            self.assertTrue(hasattr(longshore_client, name), name)

    def test_the_package_is_marked_as_typed_and_needs_nothing(self):
        self.assertTrue((FOLDER / "src" / "longshore_client" / "py.typed").exists())
        self.assertIn("dependencies = []", (FOLDER / "pyproject.toml").read_text())
        allowed = sys.stdlib_module_names | {"typing_extensions"}
        for module in (FOLDER / "src" / "longshore_client").glob("*.py"):
            for name in re.findall(r"^\s*(?:from|import) (\w+)", module.read_text(), re.M):
                self.assertIn(name, allowed, module.name)

    def test_the_example_of_the_readme_runs_and_has_ten_lines(self):
        code = re.search(r"```python\n(.*?)```", (FOLDER / "README.md").read_text(), re.S)[1]
        self.assertLessEqual(len([line for line in code.splitlines() if line]), 10)
        server = TestServer()
        self.addCleanup(server.stop)
        output = example("GET /api/jobs/{jobId}/output", 200)
        output["files"]["failed"]["url"] = f"{server.url}/s3/file"
        server.script("POST /api/jobs", Reply(202, job_at(0)))
        server.script(JOB_CALL, state(completed()))
        server.script(f"GET /api/jobs/{JOB_ID}/output", Reply(200, output))
        server.script("GET /s3/file", Reply(200, b"row,code\r\n"))
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "people.csv").write_text("email\nann@example.com\n")
            environment = os.environ | {"LONGSHORE_API_URL": server.url, "LONGSHORE_TOKEN": "the-token",
                                        "PYTHONPATH": str(FOLDER / "src")}
            command = [sys.executable, "-c", code]
            run = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("Waiting for job", run.stdout)
            self.assertEqual((Path(folder) / "failed.csv").read_bytes(), b"row,code\r\n")
