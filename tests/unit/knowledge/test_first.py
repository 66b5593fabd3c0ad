"""A project is indexed and answers."""

from perpetualcc.store.index.opening import open_pipeline


def test_a_question_finds_the_function_that_answers_it(tmp_path):
    (tmp_path / "auth.py").write_text("def check_password(user, password):\n    return True\n")
    (tmp_path / "shop.py").write_text("def add_to_cart(item):\n    return item\n")
    pipeline = open_pipeline(tmp_path)

    pipeline.index_project()
    found = pipeline.retrieve("where is the password checked?")

    assert found[0].file_path == "auth.py"
    assert found[0].symbol == "check_password"
