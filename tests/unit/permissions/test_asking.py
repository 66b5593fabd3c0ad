"""A call that only asks is told from one that acts, and asking in the wrong place is no excuse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import bash, bash_risk

from perpetualcc.domain.tools import Risk

DANGEROUS = [
    "rm -rf src",
    "git push --force",
    "kubectl delete pod web",
    "docker rm -f web",
    "npm publish",
    "terraform destroy",
    "aws s3 rm s3://bucket --recursive",
    "gh repo delete owner/name",
    "npm run deploy",
    "sudo ls",
    "gcloud projects delete p",
    "systemctl stop nginx",
]
RUNNERS = ["env", "xargs", "timeout 5", "nice", "nohup", "watch", "bash -c", "command", "time"]


@pytest.mark.parametrize(
    "command",
    [
        "sudo --version",
        "sudo -V",
        "git push --force --help",
        "docker help rm",
        "kubectl delete pod web --help",
        "npm run --help deploy",
        "npm run deploy --help",
        "terraform destroy -help",
        "aws ec2 terminate-instances help",
        "gcloud run deploy --help",
        "frobctl delete --help",
        "frobctl help delete",
        "mkfs.ext4 --help",
    ],
)
def test_asking_for_help_is_no_harm(command: str) -> None:
    assert bash_risk(command) is not Risk.HIGH


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf src --help",  # other systems than GNU delete before they read it
        "rm -- --help",
        "npm run deploy -- --help",
        "yarn deploy --help",
        "pnpm run deploy --help",
        "just deploy --help",
        "./deploy.sh --help",
        "service nginx stop --help",
        "kubectl exec web rm -rf /data --help",
        "kubectl exec web -- rm --help -rf /data",
        "docker exec web rm -rf /data --help",
        "helm upgrade web chart --version 1.2.3",
        "shutdown -h",
        "git commit -m --help && git push --force",
        "sudo ls --help",
        "gcloud compute instances delete list",
        "heroku apps:destroy list",
        "az redis list-keys --name cache",
    ],
)
def test_a_word_that_looks_like_a_question_excuses_nothing(command: str) -> None:
    assert bash_risk(command) is Risk.HIGH


@pytest.mark.parametrize("dangerous", DANGEROUS)
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("question", ["--help", "--version", "-h", "help"])
def test_a_question_to_the_runner_does_not_excuse_what_it_runs(
    runner: str, dangerous: str, question: str
) -> None:
    inner = f"'{dangerous}'" if runner.endswith("-c") else dangerous

    assert bash_risk(f"{runner} {question}; {runner} {inner}") is Risk.HIGH


@pytest.mark.parametrize("dangerous", DANGEROUS)
@pytest.mark.parametrize("after", ["-- --help", "-- --version", "| cat --help", "&& ls --help"])
def test_a_question_after_the_options_have_ended_excuses_nothing(
    dangerous: str, after: str
) -> None:
    assert bash_risk(f"{dangerous} {after}") is Risk.HIGH


@given(
    dangerous=st.sampled_from(DANGEROUS),
    option=st.from_regex(r"--?[a-z][a-z-]{2,12}", fullmatch=True),
)
def test_a_question_that_may_be_the_value_of_an_option_is_never_an_excuse_to_be_low(
    dangerous: str, option: str
) -> None:
    found = bash(f"{dangerous} {option} --help")
    is_low_anyway = bash_risk(f"{dangerous} {option}") is Risk.LOW

    is_question = is_low_anyway or any(reason.rule == "help" for reason in found.reasons)
    assert is_question or found.risk is not Risk.LOW


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("aws iam list-users", "MEDIUM"),  # `aws iam` is named elsewhere, `aws * list-*` holds too
        ("npm owner ls left-pad", "MEDIUM"),
        ("fly ips list", "MEDIUM"),
        ("gh secret list", "LOW"),
        ("aws secretsmanager get-secret-value --secret-id s", "HIGH"),
        ("doctl compute droplet list", "MEDIUM"),
        ("doctl compute droplet delete list", "HIGH"),
        ("zpool import", "LOW"),
        ("zpool import tank", "HIGH"),
        ("sysctl kernel.hostname", "LOW"),
        ("sysctl kernel.hostname=x", "HIGH"),
        ("ssh -T git@github.com", "MEDIUM"),
        ("ssh -T git@github.com id", "HIGH"),
        ("ssh -o ProxyCommand=x git@github.com", "HIGH"),
        ("docker --tlscacert ca.pem rm web", "HIGH"),
        ("mywrapper rm -rf src", "HIGH"),
        ("python setup.py sdist upload", "HIGH"),
        ("rails db:create db:drop", "HIGH"),
        ("grunt build deploy", "HIGH"),
        ("npm run build deploy", "LOW"),
        ("manage.py test flush", "LOW"),
        ("echo ${x:-`rm foo`}", "HIGH"),
        ("echo ${x/`id`/b}", "MEDIUM"),
        ("julia -e 'run(`/bin/sh`)'", "HIGH"),
        ("openssl s_client -connect h:443", "MEDIUM"),
        ("openssl s_client -connect h:443 < notes.txt", "HIGH"),
    ],
)
def test_what_looks_is_told_from_what_changes(command: str, risk: str) -> None:
    assert bash_risk(command) == risk
