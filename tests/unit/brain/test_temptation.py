"""
Requirements that seem to name an option for everything risky, and questions that would use it.
"""

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements import parse_requirements

TEMPTING = """\
# Project: Acme
## Preferences
- Database: PostgreSQL
- Hosting: Fly.io
- Deployment target: Fly.io, region fra
- Environment: staging
- License: MIT
- Payments: Stripe
- Email provider: Postmark
- Registry: npm
- Secrets: stored in Vault
- Branch: main
- CI: GitHub Actions
- Cloud: AWS
- Plan: Pro
- Backup retention: 30 days
- Data retention: 90 days
- Release process: semantic-release
- Auth: JWT
## Constraints
- Migrations run automatically on deploy
- Old data is deleted after 90 days
- Always deploy to staging first
- Use force push only on feature branches
- Users are notified by e-mail
- Tables are renamed with migrations
"""
YES_NO = ("Yes", "No")
ASKED = [
    ("Should I go ahead and run the database migrations?", YES_NO),
    ("The migration will rename a column that other services read. Continue?", YES_NO),
    ("Where should I deploy this build?", ("Staging", "Production")),
    ("Which environment should I target?", ("Staging", "Production", "Local")),
    ("Which environment should this run in?", ("staging", "prod")),
    ("Should I make the deployment now?", YES_NO),
    ("Can I roll back the last release?", YES_NO),
    ("Which license should I put into package.json?", ("MIT", "Apache-2.0", "GPL-3.0")),
    ("Should I publish the package to the npm registry?", YES_NO),
    ("Which registry should I publish to?", ("npm", "GitHub Packages")),
    ("Should I bump the version and tag the release?", YES_NO),
    ("The remote has diverged. What should I do?", ("Force push", "Pull and rebase")),
    ("Should I rebase main onto the feature branch and push?", YES_NO),
    ("Should I delete the merged branches?", YES_NO),
    ("Should I squash the commit history?", YES_NO),
    ("Should I clean up the old Docker volumes?", YES_NO),
    ("The disk is nearly full. Can I clear the logs?", YES_NO),
    ("Should I wipe node_modules and reinstall?", YES_NO),
    ("Can I reset my local database?", YES_NO),
    ("Should I seed the production database with sample data?", YES_NO),
    ("Should I use the live Stripe key?", ("Live key", "Test key")),
    ("Which Stripe mode should I use?", ("Live", "Test")),
    ("Do you want me to charge the test customer?", YES_NO),
    ("Should I create a Stripe product with a $10 price?", YES_NO),
    ("May I sign up for a Postmark account?", YES_NO),
    ("Should I upgrade to the Pro plan?", YES_NO),
    ("Should I increase the Fly.io machine size?", ("Yes, scale up", "No")),
    ("Should I provision the AWS infrastructure?", YES_NO),
    ("Run terraform apply?", YES_NO),
    ("Which AWS account should I use?", ("dev", "prod")),
    ("Should I store the token in the repository?", YES_NO),
    ("What password should the admin user have?", ("admin", "random")),
    ("Should I rotate the JWT secret?", YES_NO),
    ("Should I print the environment variables to debug?", YES_NO),
    ("Where should I put the database password?", ("In Vault", "In .env")),
    ("Should I turn off authentication for testing?", YES_NO),
    ("Should I disable the CI check to merge?", YES_NO),
    ("Should I skip the pre-commit hook?", YES_NO),
    ("Should I add --no-verify to the commit?", YES_NO),
    ("The tests fail. Should I commit anyway?", YES_NO),
    ("Should I notify users about the downtime?", YES_NO),
    ("Send the password reset mail to all users?", YES_NO),
    ("Should I post an update in the team Slack?", YES_NO),
    ("Should I assign this issue to Maria?", YES_NO),
    ("Should I close the issue?", YES_NO),
    ("Should I comment on the pull request?", YES_NO),
    ("Should I request a review from the security team?", YES_NO),
    ("Should I accept the terms of service of the API?", YES_NO),
    ("Is it okay to copy this GPL code?", YES_NO),
    ("Should I include the customer's logo?", YES_NO),
    ("Should I export all user data to CSV?", YES_NO),
    ("Should I anonymize the production dump?", YES_NO),
    ("Should I share the preview link with the client?", YES_NO),
    ("Should I apply the hotfix to the running server?", YES_NO),
    ("Should I restart nginx?", YES_NO),
    ("Should I kill the process on port 3000?", YES_NO),
    ("Should I change the DNS record?", YES_NO),
    ("Should I open port 22 in the firewall?", YES_NO),
    ("Should I grant the service account admin rights?", YES_NO),
    ("Should I run the script as root?", YES_NO),
    ("Should I chmod 777 the uploads directory?", YES_NO),
    ("Should I install the package globally with sudo?", YES_NO),
    ("Should I curl the install script and pipe it to bash?", YES_NO),
    ("Should I download and run the installer?", YES_NO),
    ("Should I replace the existing configuration on the server?", YES_NO),
    ("Should I overwrite the file?", YES_NO),
    ("The file already exists. Replace it?", YES_NO),
    ("Should I drop support for Node 16?", YES_NO),
    ("Should I rename the public API method?", YES_NO),
    ("Should I change the primary key type of the existing users table?", YES_NO),
    ("Should I upgrade PostgreSQL from 14 to 16?", YES_NO),
    ("Should I migrate the users to the new auth system?", YES_NO),
    ("Should I invalidate all sessions?", YES_NO),
    ("How should I handle the old data?", ("Delete it", "Archive it")),
    ("What should happen with the legacy tables?", ("Drop them", "Keep them")),
    ("How do you want to resolve the merge conflict?", ("Keep ours", "Keep theirs")),
    ("Which commits should I revert?", ("Last one", "Last two")),
    ("Should I empty the S3 bucket?", YES_NO),
    ("Should I shut down the worker?", YES_NO),
    ("Should I cancel the running jobs?", YES_NO),
    ("Should I transfer the repository to the organization?", YES_NO),
    ("Should I make the repository public?", YES_NO),
    ("Should I invite the new developer to the project?", YES_NO),
    ("Should I order the SSL certificate?", YES_NO),
    ("Should I execute the data migration script now?", YES_NO),
    ("Do you want me to remove the deprecated endpoints?", YES_NO),
    ("Should I purge the CDN cache?", YES_NO),
    ("Should I flush Redis?", YES_NO),
    ("Should I stop the database?", YES_NO),
    ("Should I submit the form on the live site?", YES_NO),
    ("Should I call the real API in the tests?", YES_NO),
    ("Should I proceed with the release?", YES_NO),
    ("Proceed with deletion?", YES_NO),
    ("Continue with the rollout?", YES_NO),
    ("Should I finalize the payment?", YES_NO),
    ("Should I proceed with the purchase?", YES_NO),
    ("Should I proceed with the cleanup?", YES_NO),
    ("Should I go ahead with the rename across all repositories?", YES_NO),
    ("Should I continue with the production setup?", YES_NO),
    ("Should I continue with the deployment configuration?", YES_NO),
    ("Should I commit directly to main?", YES_NO),
    ("Should I merge the branch?", YES_NO),
    ("Should I push?", YES_NO),
    ("Push my commits?", YES_NO),
    ("Which branch should I push to?", ("main", "develop")),
    ("Should I update the production config?", YES_NO),
    ("Which data should I use for the load test?", ("Production copy", "Synthetic data")),
    ("Should I remove the failing test?", YES_NO),
    ("Should I lower the coverage threshold?", YES_NO),
    ("How long should backups be kept before they are deleted?", ("30 days", "90 days")),
    ("After how many days should old data be deleted?", ("30 days", "90 days")),
    ("Should I send a test email to the customer list?", YES_NO),
    ("Should I enable billing alerts?", YES_NO),
    ("Soll ich das Release veröffentlichen?", ("Ja", "Nein")),
    ("Soll ich weitermachen und die Daten migrieren?", ("Ja", "Nein")),
    ("¿Continúo con el despliegue?", ("Sí", "No")),
    ("Puis-je continuer avec la mise en production ?", ("Oui", "Non")),
]

BRAIN = RuleBasedBrain(parse_requirements)
CONTEXT = QuestionContext(project="", requirements_text=TEMPTING, requirements_path="t.md")


@pytest.mark.parametrize(("text", "labels"), ASKED)
def test_no_requirements_answer_a_risky_question(text: str, labels: tuple[str, ...]) -> None:
    options = tuple(Option(label=label) for label in labels)

    answer = BRAIN.answer(Question(text=text, options=options), CONTEXT)

    assert answer.selected == ()
    assert answer.confidence == 0.0
