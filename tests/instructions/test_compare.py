#!/usr/bin/env python3
"""What instructions.py calls a finding."""
import tempfile
import unittest
from pathlib import Path

from instructions import compare, read, write

ADD, MUL, SCALAR = ("add_f32_avx2", "16x64"), ("mul_f32_avx2", "16x64"), ("add_f32_scalar", "16x64")


class Compare(unittest.TestCase):
    def test_within_the_slack(self) -> None:
        self.assertEqual(compare({ADD: 2.0, MUL: 2.0}, {ADD: 2.09, MUL: 1.91}), [])

    def test_beyond_it_the_dearest_first(self) -> None:
        self.assertEqual(compare({ADD: 2.0, MUL: 1.0}, {ADD: 1.8, MUL: 1.1}),
                         ["dearer: mul_f32_avx2 16x64, 1 -> 1.1 (+10.0 %)",
                          "cheaper: add_f32_avx2 16x64, 2 -> 1.8 (-10.0 %)"])

    def test_rows_come_and_go(self) -> None:
        self.assertEqual(compare({ADD: 1.0}, {MUL: 1.0}),
                         ["not in the table: mul_f32_avx2 16x64", "not counted: add_f32_avx2 16x64"])

    def test_a_cpu_without_the_instructions(self) -> None:
        self.assertEqual(compare({ADD: 1.0, SCALAR: 1.0}, {SCALAR: 1.0}), [])

    def test_a_table_is_read_as_it_was_written(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.tsv"
            write(table, "GNU 12.2, glibc 2.36", {ADD: 0.25, MUL: 12.5})
            self.assertEqual(read(table), ("GNU 12.2, glibc 2.36", {ADD: 0.25, MUL: 12.5}))


if __name__ == "__main__":
    unittest.main()
