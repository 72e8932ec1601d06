"""The ALiBi explorer: a served page, one file without a server, and notebook views."""

from alibi_explorer.embed import embed
from alibi_explorer.page import explorer

__all__ = ["embed", "explorer"]
