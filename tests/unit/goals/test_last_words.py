"""Which last words ask for something."""

import pytest

from perpetualcc.goals.last_words import question_at_the_end


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("I looked at both. Which database should I use?", "Which database should I use?"),
        ("Done so far.\n\n**Shall I go on?** 🙂", "**Shall I go on?** 🙂"),
        ("Do you want A or B? I would take A.", "Do you want A or B?"),
        ("Which one?\n\n1. SQLite\n2. PostgreSQL\n", "Which one?"),
        ("Open questions:\n- Is Redis allowed?\n- Who deploys?", "- Who deploys?"),
        ("两个方案都可以。要继续吗？", "要继续吗？"),
        ("どちらにしますか？", "どちらにしますか？"),
        ("أي قاعدة بيانات أستخدم؟", "أي قاعدة بيانات أستخدم؟"),
        ("Soll ich weitermachen (ja/nein)?", "Soll ich weitermachen (ja/nein)?"),
    ],
)  # fmt: skip
def test_a_question_is_one_with_its_choices_and_a_word_behind_it(said, asks):
    assert question_at_the_end(said) == asks


@pytest.mark.parametrize(
    "said",
    [
        "",
        "All tests pass.",
        "Why did it fail? The cache was stale. I cleared it. It works now.",
        "Is it fast? Yes.\n\nThe report is in docs/speed.md.",
        "Added `a ? b : c`.",
        "Done:\n- the parser\n- the tests",
    ],
)
def test_what_was_asked_before_the_last_words_is_none(said):
    assert question_at_the_end(said) == ""


REQUESTS = """
Let me know which you prefer.
Tell me which option you want and I'll go on.
There are two ways to do it. Please let me know which one to take.
Please tell me which database to use, and I will set it up.
Let me know how you'd like to proceed.
Let me know whether to keep the old endpoint or remove it.
Both work; tell me which you prefer.
Let me know what the retention period should be.
Please confirm which branch this should go to.
Please confirm.
Please confirm, and I'll run the migration.
I'll wait for your confirmation before I delete anything.
Waiting for your decision.
I need your decision before I can continue.
I need you to choose one of these before I write any code.
Once you confirm, I'll start with the schema.
As soon as you've decided, I can finish the rest.
Let me know if I should proceed.
Please provide the API key so I can continue.
Pick one of the two and I'll implement it.
Choose an option and I will go on.
**Your call — let me know which.**
I stopped here. Your call: tell me which one.
Please advise.
Please clarify whether "active" means paid or logged in.
Just say which format you want. I would take CSV.
Let me know when the key is in .env and I'll go on.
Sag mir bitte, welche Variante du willst.
Dites-moi laquelle vous préférez.
Dime cuál prefieres.
Reply with A or B and I'll go on.
Please decide between the two.
Let me know which approach you’d like: a table or a list.
I haven't changed anything yet. Tell me how you want the errors handled.
I've left both implementations in place. Let me know which one to keep.
Let me know which of these you want and I'll implement it.
Please let me know how to handle the duplicates.
I paused before touching the database. Tell me whether to continue.
Could not decide between UTC and local time, so I stopped; let me know what you want.
Please share the credentials so I can run the integration tests.
I need your approval before running the migration.
Please tell me the expected format.
Let me know your preference.
Let me know your choice and I'll continue.
Reply "go" and I'll start.
Say the word and I'll delete the old tables.
Which one is up to you; tell me and I'll do it.
Pick whichever you prefer and I'll wire it up.
I will proceed once you confirm.
Awaiting your go-ahead.
Confirm and I'll push.
Let me know if that plan works for you and I'll start.
Please specify the target version.
I'm blocked: I need the API key.
I am currently blocked on the missing credentials.
I can't proceed without the database password.
I cannot continue until the staging server is up.
Without access to the repository I cannot go any further.
Until the schema is settled, I can't continue.
I need the production URL to continue.
I need a decision on the licence before I can proceed.
I stopped here, because I can't finish this without the design files.
Nothing was changed. I am not able to proceed without write access to the bucket.
I still need the customer's logo to complete the page.
I’m blocked by the failing VPN; everything else is done.
"""
OFFERS_AND_REPORTS = """
Let me know if you need anything else.
Let me know if you'd like me to add tests.
Let me know if you’d like me to adjust the wording.
Let me know if you have any questions!
Let me know if you want me to also update the docs, and I'll do it.
Let me know whether you'd like me to open a pull request.
Let me know what you think.
Let me know how it goes.
Let me know what else I can help with.
Let me know what you'd like to work on next.
Let me know how I can help.
Let me know if anything looks off.
Let me know if there are other files you want converted.
If you prefer the other layout, tell me which one and I'll switch.
If something is missing, let me know which field and I'll add it.
Should you need a different format, just say which.
Feel free to tell me which parts to change.
Happy to add more tests if you tell me which cases matter.
The logs tell me which request failed.
The tests confirm that the parser works.
Done. The report is in docs/report.md.
The user can choose between light and dark.
You can choose one of the themes in the settings.
The wizard asks the user to pick one.
The form lets you select one of three plans.
To run it, set DATABASE_URL and start the server.
To deploy, provide the key in .env; the README says how.
Please review the changes before merging.
Please restart the server so the change takes effect.
Please run `make migrate` before you deploy.
Please note that the cache is cleared at startup.
The dialog reads "Let me know which you prefer."
I added a prompt that reads: "Tell me which option you want."
When you confirm the order, the mail is sent.
Once you confirm the dialog, the file is deleted.
When you choose a plan, the page shows what it costs.
Once you merge it, CI will publish the package.
The page waits for your answer and then goes on.
I chose SQLite, which needs no server.
I confirmed what the ticket says: it was the cache.
Everything is committed on the branch feature/login.
I left the old endpoint as it was, and noted it in the changelog.
The feature is behind a flag, so it can be turned on later.
Note: I could not run the e2e tests here, as there is no browser.
The build can't finish without network access, so it is skipped in CI.
Users cannot continue until they accept the terms.
I made sure that one can't proceed without a valid e-mail address.
The migration was blocked by a lock; I released it and it ran.
You will need an API key to continue with the tutorial.
I did not need the old helper to finish this, so it is gone.
The request is blocked by the firewall rule I added.
I unblocked the queue, and the worker goes on.
I can't reproduce the failure any more.
Sag Bescheid, wenn du noch etwas brauchst.
Sag mir, was ich als Nächstes tun soll.
Dites-moi si vous avez besoin d'autre chose.
Dime si necesitas algo más.
Logs: tell how many were sent, and I verified what they say.
I've updated the prompt so that it asks; answer handling is in reply.py, which has tests.
Decide later what to log; for now nothing is.
Reviewers need your approval rules, which are in CODEOWNERS.
The gate needs your confirmation only for deletes.
Use --format to specify how it prints.
Send SIGHUP and it reloads what changed.
Provide a token with --token, which is read once.
Select what to sync in settings.json, then restart.
Choose one in the settings page if you have several.
Pick what you like from the examples in docs/.
The migration is done. Let me know if something breaks.
If you run into problems, let me know what the log says.
Let me know if this isn't what you had in mind.
I can also add a CLI if you want.
Let me know when you're ready to deploy.
You can now tell the app which port to use.
The prompt asks users to confirm what they delete.
Run `make dev` and then open http://localhost:3000.
I'd recommend merging this first, then rebasing the other branch.
Please double-check the copy on the landing page.
The parser now says which line failed and how to fix it.
I verified which tests were flaky: two, both fixed.
The config decides which backend is used.
Let me know if you hit any issues.
Let me know if you want changes.
Happy to iterate on the design.
Just let me know if you want to go further with this.
See docs/usage.md for how to choose between the two modes.
Note: you need to provide an API key before the app starts.
Next, choose between the themes in settings.
The rest of the cleanup can happen later, and I left TODOs where it matters.
Give it a try and tell me what you think!
Try it out and let me know how it feels.
Once you've confirmed it works, you can delete the backup.
When you answer the prompt, the script continues.
I could not reproduce the crash; the log would tell me which path was taken.
Share the link with whoever needs it.
Send feedback to the channel when you have tried it.
"""


@pytest.mark.parametrize("said", REQUESTS.strip().splitlines())
def test_a_request_to_answer_is_a_question_without_its_mark(said):
    assert question_at_the_end(f"I looked at both.\n\n{said}") != ""


@pytest.mark.parametrize("said", OFFERS_AND_REPORTS.strip().splitlines())
def test_who_is_done_and_would_do_more_asks_nothing(said):
    assert question_at_the_end(f"I looked at both.\n\n{said}") == ""


def test_what_a_list_of_next_steps_has_a_person_confirm_is_no_question():
    assert question_at_the_end("Next steps:\n- Confirm which entry is used, so I can go") == ""
