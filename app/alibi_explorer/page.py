"""The served page: one component that carries choices to the server and fills back."""

import logging
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import panel as pn
import param
from panel.custom import Children, JSComponent

from alibi_core import Selection
from alibi_core.lesson import OPENING
from alibi_explorer.checking import check_asked
from alibi_explorer.figures import Figures
from alibi_explorer.layout import assets, explorer_html, script, stylesheet
from alibi_explorer.sections import SECTIONS, fill_all, values_of, yours
from alibi_explorer.state import ExplorerState, nearest_selection, url_choice
from alibi_explorer.theme import DARK, LIGHT, figure_colours

_log = logging.getLogger(__name__)


class ExplorerView(JSComponent):
    """The explorer of one session.

    The controls are plain HTML; what the reader picks arrives as a message, which also spares
    Panel's wait of 50 ms before it passes on a changed widget. The answer is one message
    with the slots that changed; the figures change through their data sources.
    """

    html = param.String(doc="The explorer as HTML, where no template has put it on the page.")
    frames = Children(doc="An empty frame for each figure, in the order of `figure_names`.")
    figure_names = param.List(item_type=str, doc="The place of each figure on the page.")
    colours = param.Dict(doc="The colours that figures name, for light and dark.")

    _esm = script(
        "paint.js", "practice.js", "explorer.js", "tour.js", "host.js", "check.js", "served.js"
    )

    def __init__(self, state: ExplorerState, **params: Any) -> None:
        self._state = state
        self._values = values_of(state.calculation)
        self._notice = ""
        self._picks = 0
        self._figures: dict[str, Figures] = {}
        names = [name for section in SECTIONS if section.figures for name in section.figures.names]
        self._frames = {name: pn.Column(sizing_mode="stretch_width", margin=0) for name in names}
        super().__init__(
            frames=list(self._frames.values()),
            figure_names=names,
            colours={"light": figure_colours(LIGHT), "dark": figure_colours(DARK)},
            **params,
        )
        state.param.watch(self._send_changes, "calculation")

    def _handle_msg(self, message: Any) -> None:
        if not isinstance(message, dict):
            return
        if message.get("all"):
            self._send(fill_all(self._state.calculation))
            return
        if "figures" in message:
            self._draw(str(message["figures"]))
            return
        if isinstance(message.get("check"), dict):
            self._check(message["check"])
            return
        picks = message.get("picks")
        self._picks = picks if isinstance(picks, int) else self._picks
        self._pick(message)

    def _check(self, asked: Mapping[str, Any]) -> None:
        """Answer what is asked of it; nothing of it is kept."""
        try:
            answer = yours.answer(check_asked(asked))
        except (TypeError, ValueError) as error:
            answer = yours.unread(f"Not read: {error}")
        except Exception:  # a reader waits for an answer, whatever becomes of the check
            _log.exception("a check failed")
            answer = yours.unread("Not checked: this is a fault of the explorer, not of yours")
        self._send_msg({"checked": answer})

    def _pick(self, asked: Mapping[str, Any]) -> None:
        selection, self._notice = nearest_selection(asked, self._state.selection)
        if selection != self._state.selection:
            with pn.io.hold():
                self._state.selection = selection
        else:
            self._send({})

    def _send_changes(self, _: Any) -> None:
        calculation = self._state.calculation
        values = values_of(calculation)
        changed = {name for name, value in values.items() if value != self._values[name]}
        self._values = values
        self._send(fill_all(calculation, changed))
        # The text first: the figures follow once it is on its way.
        pn.state.execute(partial(self._update_figures, changed), schedule=True)

    def _update_figures(self, changed: Collection[str]) -> None:
        with pn.io.hold():
            for figures in self._figures.values():
                figures.update(self._state.calculation, changed)

    def _draw(self, name: str) -> None:
        """Put the figures of the section `name` into their frames, once they come near."""
        for section in SECTIONS:
            if section.name == name and section.figures and name not in self._figures:
                figures = section.figures(self._state.calculation, self._pick)
                self._figures[name] = figures
                for place, model in zip(figures.names, figures.models, strict=True):
                    self._frames[place].append(pn.pane.Bokeh(model, margin=0))

    def _send(self, fills: dict[str, str]) -> None:
        answer = {
            "choice": url_choice(self._state.selection),
            "fills": fills,
            "picks": self._picks,
        }
        if fills or self._notice:  # else what the page says still holds
            answer["notice"] = self._notice
        self._send_msg(answer)


def served_page() -> pn.Template:
    """The page of the running session, at the choice that its URL asks for."""
    asked = {
        name: values[-1].decode("utf-8", "replace")
        for name, values in pn.state.session_args.items()
    }
    selection, notice = nearest_selection(asked)
    state = ExplorerState(selection)
    page = pn.Template((assets() / "page.html").read_text("utf-8"))
    page.add_panel("view", ExplorerView(state))
    page.add_variable("css", stylesheet())
    page.add_variable("start", script("paint.js", "arrange.js", "start.js"))
    page.add_variable("explorer", explorer_html(state.calculation, notice=notice))
    return page


def explorer(
    query: int = OPENING["query"],
    key: int = OPENING["key"],
    num_heads: int = OPENING["num_heads"],
    head: int = OPENING["head"],
) -> ExplorerView:
    """The explorer for a notebook cell.

    Parameters
    ----------
    query, key : int
        Positions, 0 to 5.
    num_heads : int
        Number of heads, 1 to 16.
    head : int
        Head, 0 to ``num_heads - 1``.

    Returns
    -------
    ExplorerView
        Displays itself at the end of a cell.

    Raises
    ------
    TypeError, ValueError
        If a value is not an integer or out of range; the message names the range.
    """
    state = ExplorerState(Selection(num_heads=num_heads, head=head, query=query, key=key))
    pn.extension(inline=True)  # a notebook may have no network
    return ExplorerView(
        state,
        html=f"<style>{stylesheet()}</style>{explorer_html(state.calculation)}",
        sizing_mode="stretch_width",
    )
