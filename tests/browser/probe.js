// Added to every page under test: looks at the page and its Bokeh figures, and changes nothing.

window.probe = {
  // How many elements move with time. What follows the reader's own scrolling does not.
  moving() {
    return [...document.querySelectorAll(".alibi, .alibi *")].filter((element) => {
      const {transitionDuration, animationName, animationTimeline} = getComputedStyle(element)
      const follows = animationTimeline.split(", ").every((name) => name.startsWith("scroll("))
      return parseFloat(transitionDuration) > 0 || (animationName !== "none" && !follows)
    }).length
  },

  // What differs from a choice and its fills, as a list of lines; empty if nothing does.
  differences([choice, fills]) {
    const lines = []
    if (!document.querySelector("form.controls")) return ["no controls"]
    const search = new URLSearchParams(location.search)
    for (const [name, value] of Object.entries(choice)) {
      const control = probe.control(name).value
      if (control !== String(value)) lines.push(`control ${name} is ${control}`)
      if (search.getAll(name).join() !== String(value)) lines.push(`URL has ${name}=${search.getAll(name)}`)
    }
    for (const {dataset} of document.querySelectorAll("[data-slot]")) {
      if (!(dataset.slot in fills)) lines.push(`slot ${dataset.slot} has no fill`)
    }
    for (const [name, html] of Object.entries(fills)) {
      const slots = document.querySelectorAll(`[data-slot="${name}"]`)
      if (slots.length === 0) lines.push(`no slot ${name}`)
      for (const slot of slots) {
        const wanted = slot.cloneNode(false)
        wanted.innerHTML = html
        if (slot.textContent !== wanted.textContent) lines.push(`${name} says: ${slot.textContent}`)
        else if (probe.unmarked(slot) !== probe.unmarked(wanted)) lines.push(`${name} has other marks`)
      }
    }
    const whole = {...JSON.parse(document.querySelector(".alibi").dataset.opening), ...choice}
    for (const element of document.querySelectorAll(".alibi section :is([data-query], [data-key], [data-head])")) {
      const names = Object.keys(whole).filter((name) => name in element.dataset)
      const chosen = names.every((name) => element.dataset[name] === String(whole[name]))
      if (element.hasAttribute("aria-current") !== chosen) {
        lines.push(`${element.localName} ${JSON.stringify(element.dataset)} chosen: ${!chosen}`)
      }
    }
    for (const {dataset, textContent} of document.querySelectorAll("[data-value-of]")) {
      if (textContent !== String(whole[dataset.valueOf])) lines.push(`${dataset.valueOf} is written ${textContent}`)
    }
    return lines
  },

  control(name) {
    return [...document.forms].map(({elements}) => elements.namedItem(name)).find(Boolean)
  },

  // What the controls say, without what stands as it does at the opening and one section alone follows.
  choice() {
    const {choice, opening} = document.querySelector(".alibi").dataset
    const names = Object.keys(JSON.parse(choice))
    const values = names.map((name) => [name, Number(probe.control(name).value)])
    return Object.fromEntries(values.filter(([name, value]) => JSON.parse(opening)[name] !== value))
  },

  // HTML without what the page adds to show the choice.
  unmarked(element) {
    const copy = element.cloneNode(true)
    for (const part of copy.querySelectorAll("*")) {
      part.removeAttribute("aria-current")
      part.removeAttribute("tabindex")
    }
    return copy.innerHTML
  },

  // The Bokeh model of a figure; none while it has not been drawn.
  plot(name) {
    const {frames, figure_names} = Bokeh.documents[0].roots()[0].data
    const models = [...frames[figure_names.indexOf(name)].references()]
    return models.find((model) => model.renderers)
  },

  figureNames() {
    return Bokeh.documents[0].roots()[0].data.figure_names
  },

  // A figure as BokehJS holds it: its renderers in order, and every model that has a colour.
  figure(name) {
    const plot = probe.plot(name)
    const columns = (source) =>
      Object.fromEntries(source.columns().map((column) => [column, Array.from(source.get_column(column))]))
    return {
      label: plot.html_attributes["aria-label"],
      background: plot.background_fill_color,
      axes: [...plot.below, ...plot.above, ...plot.left].map((axis) => axis.major_label_text_color),
      renderers: plot.renderers.map(({glyph, data_source}) => {
        const mapper = glyph.fill_color?.transform
        return {
          glyph: glyph.type,
              field: glyph.fill_color?.field,
          text: glyph.text?.field,
          textColour: glyph.text_color?.value,
          columns: columns(data_source),
          mapper: mapper && {low: mapper.low, high: mapper.high, palette: Array.from(mapper.palette)},
        }
      }),
    }
  },

  // Where a point in data coordinates is in the window.
  place([name, x, y]) {
    const view = Bokeh.index.find_one(probe.plot(name))
    const box = view.canvas_view.el.getBoundingClientRect()
    return [box.x + view.frame.x_scale.compute(x), box.y + view.frame.y_scale.compute(y)]
  },

  // Values in the open hover boxes, which Bokeh keeps in nested shadow roots, one a "label: value".
  hovered() {
    const values = []
    const search = (root, inside) => {
      for (const element of root.querySelectorAll("*")) {
        const label = element.textContent
        if (inside && element.localName === "span" && label.endsWith(":") && element.checkVisibility()) {
          values.push(element.parentElement.textContent.slice(label.length).trim())
        }
        if (element.shadowRoot) search(element.shadowRoot, inside || element.matches(".bk-Tooltip"))
      }
    }
    search(document, false)
    return values
  },

  // Where the headings stand in the document.
  headings() {
    return [...document.querySelectorAll(".alibi :is(h1, h2, h3)")].map((heading) => {
      const box = heading.getBoundingClientRect()
      return [heading.textContent, box.x + scrollX, box.y + scrollY, box.height]
    })
  },

  // Labels that are wider than their box.
  cutShort() {
    const labels = document.querySelectorAll(".alibi :is(button, .chip, th, td, summary, legend, .part b)")
    return [...labels]
      .filter((label) => label.scrollWidth > label.clientWidth)
      .map((label) => `${label.localName} ${label.textContent}: ${label.scrollWidth} > ${label.clientWidth}`)
  },

  // What has the focus, in the words that the tests use, and the width of its outline.
  focused() {
    const element = document.activeElement
    let shown = element.matches("[type=radio]:has(+ .chip)") ? element.nextElementSibling : element
    while (shown.shadowRoot?.activeElement) shown = shown.shadowRoot.activeElement
    const {outlineStyle, outlineWidth} = getComputedStyle(shown)
    const name = element.closest("[data-figure]") ? "figure"
      : element.closest("[data-question]") ? "question"
      : element.matches(".guide a") ? "link"
      : element.matches("[role=grid] td") ? "grid cell"
      : element.matches(".card") ? "card"
      : element.matches("tr[data-key] button") ? "key row"
      : element.matches("tr[data-head] button") ? "head row"
      : element.matches(".scroll, .order") ? "table"
      : element.matches("summary") ? "details"
      : element.name || element.localName
    return [name, outlineStyle === "none" ? 0 : parseFloat(outlineWidth)]
  },
}
