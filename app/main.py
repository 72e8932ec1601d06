"""What ``panel serve app`` runs, once for each visitor."""

import panel as pn
from alibi_explorer.page import served_page

pn.extension()
arguments = {
    name: values[-1].decode("utf-8", "replace") for name, values in pn.state.session_args.items()
}
served_page(arguments).servable(title="ALiBi explorer")
