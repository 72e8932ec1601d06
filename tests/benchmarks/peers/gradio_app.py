"""The explorer in Gradio: each control's change runs one function."""

import sys

import gradio as gr
import plotly.graph_objects as go
from lesson import AXIS, grids, readout


def update(query, key, num_heads, head):
    """Both heatmaps and the readout of one state."""
    bias, weight = grids(num_heads, int(head))
    return (
        go.Figure(go.Heatmap(z=bias, x=AXIS, y=AXIS)),
        go.Figure(go.Heatmap(z=weight, x=AXIS, y=AXIS)),
        readout(int(query), int(key), num_heads, int(head)),
    )


with gr.Blocks(analytics_enabled=False) as demo:
    heads_control = gr.Dropdown([4, 6, 8], value=4, label="heads")
    head_control = gr.Slider(0, 3, 0, step=1, label="head")
    query_control = gr.Slider(0, 5, 5, step=1, label="query")
    key_control = gr.Slider(0, 5, 0, step=1, label="key")
    shown = [gr.Plot(), gr.Plot(), gr.Textbox(elem_id="out")]
    choice = [query_control, key_control, heads_control, head_control]
    for control in choice:
        control.change(update, choice, shown, show_progress="hidden")
    demo.load(update, choice, shown)

demo.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True)
