"""What an author pastes into a course page, for each kind of host."""

import json
from html import escape

HEIGHT = 900
"""Height of a frame, in CSS pixels, until the page in it says its own."""

_LISTENER = """<script>
  window.addEventListener("message", (event) => {
    if (event.data?.type !== "alibi-explorer:height") return
    for (const frame of document.querySelectorAll("iframe")) {
      if (frame.contentWindow === event.source) frame.style.height = `${event.data.height}px`
    }
  })
</script>"""


def frame(src: str, title: str = "ALiBi explorer") -> str:
    """A frame that shows the explorer, as plain HTML without scripts."""
    return (
        f'<iframe src="{escape(src)}" title="{escape(title)}" loading="lazy" '
        f'width="100%" height="{HEIGHT}" style="border: 0" allow="clipboard-write"></iframe>'
    )


def _html(src: str) -> str:
    return f"{frame(src)}\n{_LISTENER}"


def _myst(src: str) -> str:
    """MyST takes raw HTML in a directive of its own; the listener comes with it."""
    return f"```{{raw}} html\n{_html(src)}\n```"


def _sphinx(src: str) -> str:
    lines = "\n".join(f"   {line}" for line in _html(src).splitlines())
    return f".. raw:: html\n\n{lines}"


def _quarto(src: str) -> str:
    return f"```{{=html}}\n{_html(src)}\n```"


def _docusaurus(src: str) -> str:
    """JSX: attributes in its spelling, and the listener as an effect of the page."""
    return f"""import {{useEffect}} from "react"

export function AlibiExplorer({{src}}) {{
  useEffect(() => {{
    const listen = (event) => {{
      if (event.data?.type !== "alibi-explorer:height") return
      for (const frame of document.querySelectorAll("iframe")) {{
        if (frame.contentWindow === event.source) frame.style.height = `${{event.data.height}}px`
      }}
    }}
    window.addEventListener("message", listen)
    return () => window.removeEventListener("message", listen)
  }}, [])
  return (
    <iframe
      src={{src}}
      title="ALiBi explorer"
      loading="lazy"
      width="100%"
      height="{HEIGHT}"
      style={{{{border: 0}}}}
      allow="clipboard-write"
    />
  )
}}

{{/* Another one on this page needs the next line alone. */}}
<AlibiExplorer src={{{json.dumps(src)}}} />"""


def _jupyter(src: str) -> str:
    return (
        "from IPython.display import IFrame\n\n"
        f'IFrame({src!r}, width="100%", height={HEIGHT}, extras=[\'title="ALiBi explorer"\', '
        "'loading=\"lazy\"'])"
    )


HOSTS = {
    "html": _html,
    "myst": _myst,
    "sphinx": _sphinx,
    "mkdocs": _html,
    "quarto": _quarto,
    "docusaurus": _docusaurus,
    "moodle": frame,
    "canvas": frame,
    "jupyter": _jupyter,
}
"""What to paste, by kind of host. Moodle and Canvas take no scripts; Canvas hears the height."""
