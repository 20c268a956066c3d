"""Pages as they are written, beside those of the site: what ``llms.txt`` links to."""

from pathlib import Path
from typing import Any


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Write the page's Markdown under its name in the repository, and leave the page alone."""
    target = Path(config["site_dir"]) / page.file.src_uri
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page.file.content_string, encoding="utf-8")
    return output
