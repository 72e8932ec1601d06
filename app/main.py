"""What ``panel serve app`` runs, once for each visitor."""

import panel as pn

from alibi_explorer.layout import TITLE
from alibi_explorer.page import served_page

pn.extension()
served_page().servable(title=TITLE)
