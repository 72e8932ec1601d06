"""The explorer in Streamlit: the whole script runs again at each change."""

import plotly.graph_objects as go
import streamlit as st
from lesson import AXIS, grids, readout

num_heads = st.selectbox("heads", [4, 6, 8])
head = st.slider("head", 0, num_heads - 1, 0)
query = st.slider("query", 0, 5, 5)
key = st.slider("key", 0, 5, 0)

bias, weight = grids(num_heads, head)
left, right = st.columns(2)
left.plotly_chart(go.Figure(go.Heatmap(z=bias, x=AXIS, y=AXIS)), key="bias")
right.plotly_chart(go.Figure(go.Heatmap(z=weight, x=AXIS, y=AXIS)), key="weight")
st.text(readout(query, key, num_heads, head))
