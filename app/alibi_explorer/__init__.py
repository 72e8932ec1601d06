"""The ALiBi explorer: a served page and a notebook view over `alibi_core`."""

from alibi_explorer.page import explorer

__all__ = ["explorer"]
