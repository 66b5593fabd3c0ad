"""Tests empty the database that they run against, and nobody tests in production unasked."""

import pytest
from judging import bash_risk

from perpetualcc.domain.tools import Risk


@pytest.mark.parametrize(
    "command",
    [
        "RAILS_ENV=production rails test",
        "RAILS_ENV=production bundle exec rspec",
        "RAILS_ENV=production rake test",
        "export RAILS_ENV=production; rails test",
        "env RAILS_ENV=production rails test",
        "APP_ENV=production php artisan test",
        "APP_ENV=prod vendor/bin/phpunit",
        "MIX_ENV=prod mix test",
        "python manage.py test --settings=proj.settings.production",
        "python manage.py test --settings proj.settings.production",
        "DJANGO_SETTINGS_MODULE=proj.settings.prod pytest",
        "pytest --ds=proj.settings.prod",
        "STAGE=prod npm test",
        "make test STAGE=prod",
    ],
)
def test_only_a_person_has_tests_run_in_production(command: str) -> None:
    assert bash_risk(command) is Risk.HIGH
    assert bash_risk(command.replace("production", "test").replace("prod", "test")) is Risk.LOW


@pytest.mark.parametrize(
    "command",
    [
        "NODE_ENV=production npm test",
        "RAILS_ENV=production rails assets:precompile",
        "MIX_ENV=prod mix compile",
        "APP_ENV=prod test -f x",
        "pytest tests/test_products.py",
        "PGHOST=db pytest",
    ],
)
def test_what_builds_for_production_or_tests_elsewhere_is_still_low(command: str) -> None:
    assert bash_risk(command) is Risk.LOW


def test_a_host_called_production_is_another_machine() -> None:
    assert bash_risk("PGHOST=prod pytest") is Risk.MEDIUM
