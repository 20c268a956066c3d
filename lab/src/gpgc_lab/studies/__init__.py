"""Each table and figure of the paper, with the published numbers beside ours."""
