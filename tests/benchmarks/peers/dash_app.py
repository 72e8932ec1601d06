"""The explorer in Dash: one callback returns both figures and the readout."""

import sys

import plotly.graph_objects as go
from dash import Dash, Input, Output, dcc, html
from lesson import AXIS, grids, readout

app = Dash(__name__)
app.layout = html.Div(
    [
        dcc.Dropdown([4, 6, 8], 4, id="heads", clearable=False),
        dcc.Slider(0, 3, 1, value=0, id="head"),
        dcc.Slider(0, 5, 1, value=5, id="query"),
        dcc.Slider(0, 5, 1, value=0, id="key"),
        dcc.Graph(id="bias"),
        dcc.Graph(id="weight"),
        html.Pre(id="out"),
    ]
)


@app.callback(
    Output("bias", "figure"),
    Output("weight", "figure"),
    Output("out", "children"),
    Input("query", "value"),
    Input("key", "value"),
    Input("heads", "value"),
    Input("head", "value"),
)
def update(query, key, num_heads, head):
    """Both heatmaps and the readout of one state."""
    head = min(head, num_heads - 1)
    bias, weight = grids(num_heads, head)
    return (
        go.Figure(go.Heatmap(z=bias, x=AXIS, y=AXIS)),
        go.Figure(go.Heatmap(z=weight, x=AXIS, y=AXIS)),
        readout(query, key, num_heads, head),
    )


app.run(host="127.0.0.1", port=int(sys.argv[1]), debug=False)
