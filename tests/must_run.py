"""Fails a run in which a suite that was to run did not."""

from __future__ import annotations

import os

ALLOWED = ("a small disk needs", "needs the real data")
"""How reasons to skip begin that are no missing package: no right to mount a disk, no data."""


def pytest_sessionfinish(session):
    """Fail where ``GPGC_MUST_RUN`` names a folder whose tests were skipped, or did not pass."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    for folder in os.environ.get("GPGC_MUST_RUN", "").split():
        skipped = [
            f"{report.nodeid}: {reason_of(report)}"
            for report in reporter.stats.get("skipped", [])
            if report.nodeid.startswith(folder) and not reason_of(report).startswith(ALLOWED)
        ]
        passed = any(one.nodeid.startswith(folder) for one in reporter.stats.get("passed", []))
        if skipped or not passed:
            reporter.write_line(f"\n{folder} must run: {skipped or 'no test passed'}", red=True)
            session.exitstatus = 1


def reason_of(report) -> str:
    return str(report.longrepr[2]).removeprefix("Skipped: ")
