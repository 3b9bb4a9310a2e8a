"""What a label hangs on in any labelled texts, and the page that tells it."""

from attnsel.checks import require

require("report", "jinja2", "rensa", "sklearn")
