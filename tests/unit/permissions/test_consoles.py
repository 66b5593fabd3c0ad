"""Code run with the project's database is a person's, unless it can be seen to only ask."""

import pytest
from judging import bash, bash_risk

from perpetualcc.domain.tools import Risk


@pytest.mark.parametrize(
    "command",
    [
        "rails runner 'puts User.count'",
        "rails runner 'User.count'",
        "bin/rails runner 'p User.where(active: true).pluck(:email)'",
        "bundle exec rails r 'puts Order.group(:status).count.inspect'",
        "python manage.py shell -c 'print(1)'",
        './manage.py shell -c "from a.models import Cart, Order\nprint(Order.objects.all()[:5])"',
        "python manage.py shell -c \"print(Order.objects.filter(status='delete()').count())\"",
        "flask shell <<< 'print(User.query.count())'",
        "echo 'print(User.objects.count())' | python manage.py shell",
    ],
)
def test_asking_for_rows_is_medium(command: str) -> None:
    assert bash_risk(command) is Risk.MEDIUM


@pytest.mark.parametrize(
    "command",
    [
        "rails runner 'User.delete_all'",
        "rails runner 'User::delete_all'",
        "rails runner 'User&.delete_all'",
        "rails runner 'User.all.each(&:destroy)'",
        "rails runner 'User.send(:delete_all)'",
        "rails runner 'User.first.roles << 1'",
        "rails runner 'User.find(1).name = 1; User.find(1).save!'",
        "rails runner 'x = User; x.delete_all'",
        "rails runner 'puts ENV'",
        "rails runner 'puts Rails.application.credentials.config'",
        "rails runner db/fix_it.rb",
        'rails runner "$CODE"',
        "rails runner 'DeleteEverything()'",
        'rails runner "puts \\"#{User.delete_all}\\""',
        "python manage.py shell",
        "python manage.py shell < x.py",
        "python manage.py shell -c 'User.objects.all().delete()'",
        "python manage.py shell -c 'from shop.tasks import destroy as first; print(first())'",
        "python manage.py shell -c 'from shop.models import User; User.objects.create(x=1)'",
        "python manage.py shell -c '[x.delete() for x in User.objects.all()]'",
        "python manage.py shell -c 'print(settings.SECRET_KEY)'",
        "cat x.py | python manage.py shell",
    ],
)
def test_whatever_else_it_does_is_for_a_person(command: str) -> None:
    assert bash_risk(command) is Risk.HIGH


def test_the_reason_says_whether_the_code_was_seen() -> None:
    seen = [r.explanation for r in bash("rails runner 'User.delete_all'").reasons]
    unseen = [r.explanation for r in bash("rails runner db/fix_it.rb").reasons]

    assert any("may change the project's database" in reason for reason in seen)
    assert any("is not seen here" in reason for reason in unseen)
