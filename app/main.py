"""What ``panel serve app`` runs, once for each visitor."""

import panel as pn

from alibi_explorer.page import TITLE, served_page

pn.extension()
served_page().servable(title=TITLE)
