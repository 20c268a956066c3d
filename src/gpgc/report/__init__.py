"""One page, in one file, about a fitted classifier."""

from gpgc.report.page import report_page, write_report

__all__ = ["report_page", "write_report"]
