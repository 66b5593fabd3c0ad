"""The report on a project's structure, as a person reads it."""

from perpetualcc.cli.structure_report import print_report
from perpetualcc.knowledge.structure import structure_of


def test_a_project_of_one_file_is_told_without_empty_headings(capsys):
    print_report(structure_of({"src/auth.py": ()}), as_json=False)

    told = capsys.readouterr().out
    assert told.startswith("1 file of code, 0 imports among them; tests are left out\n")
    assert "Most depended on (importers, files that reach it): none\n" in told
