// What the URL says of the view, the same on every host: sections, controls, theme, title.

function arrangeExplorer(root, search) {
  const asked = new URLSearchParams(search)
  const problems = []
  const right = new URL(location.href) // the address without what is no value
  const all = (attribute) => [...root.querySelectorAll(`[data-${attribute}]`)].map((element) => element.dataset[attribute])

  const one = (name, known) => {
    const value = asked.getAll(name).at(-1)
    if (value === undefined || known.includes(value)) return value
    problems.push(`${name} “${shortened(value)}” is not one of ${known.join(", ")}`)
    right.searchParams.delete(name)
    return undefined
  }

  const several = (name, known) => {
    const value = asked.getAll(name).at(-1)
    if (value === undefined) return undefined
    const names = [...new Set(value.split(",").map((part) => part.trim()).filter(Boolean))]
    const unknown = names.filter((part) => !known.includes(part))
    if (unknown.length || !names.length) {
      problems.push(`${name} “${shortened(unknown.join(",") || value)}” is not one of ${known.join(", ")}`)
    }
    const found = names.filter((part) => known.includes(part))
    if (found.length) right.searchParams.set(name, found.join(","))
    else right.searchParams.delete(name)
    return found.length ? found : undefined
  }

  // Only what is asked for, in that order.
  const sections = several("sections", all("section"))
  const questions = several("questions", all("question"))
  for (const [names, attribute] of [[sections, "section"], [sections, "link"], [questions, "question"]]) {
    if (!names) continue
    for (const element of root.querySelectorAll(`[data-${attribute}]`)) element.hidden = true
    for (const name of names) {
      const element = root.querySelector(`[data-${attribute}="${name}"]`)
      element.hidden = false
      element.parentElement.append(element)
    }
  }

  if (sections) root.querySelector(".guide").hidden = sections.length < 3 // one sees them all

  // The tour speaks of the sections shown; a step that is not there gives the nearest.
  const steps = [...root.querySelectorAll(".tour li")].filter((step) => {
    const isShown = !root.querySelector(`[data-section="${step.dataset.show}"]`).hidden
    if (!isShown) step.remove()
    return isShown
  })
  const tour = asked.getAll("tour").at(-1)
  if (tour !== undefined) {
    const number = readNumber(tour)
    const step = Math.min(Math.max(Math.round(number) || 1, 1), steps.length)
    if (step) root.dataset.tour = step
    if (step) right.searchParams.set("tour", step)
    else right.searchParams.delete("tour")
    const valid = step ? `one of 1 to ${steps.length}, so ${step} is shown` : "a step here: the tour speaks of other sections"
    if (step !== number) problems.push(`tour “${shortened(tour)}” is not ${valid}`)
  }

  const known = ["none", ...new Set(all("control"))]
  const controls = several("controls", known)
  if (controls) {
    for (const control of root.querySelectorAll("[data-control]")) {
      control.hidden = !controls.includes(control.dataset.control)
    }
  }

  const theme = one("theme", [...root.querySelectorAll("select[name=theme] option")].map((option) => option.value))
  if (theme) {
    root.dataset.theme = theme
    root.querySelector("select[name=theme]").value = theme
  }

  const title = one("title", ["on", "off"])
  if (title) root.querySelector(".title").hidden = title === "off"

  // After the first paint the sections are laid out, one a frame; from then on those in view are.
  const [, ...late] = root.querySelectorAll("section:not([hidden])")
  for (const section of late) section.dataset.late = ""
  root.dataset.late = "more"
  const goOn = () => afterPaint(() => {
    const section = late.shift()
    delete (section ?? root).dataset.late
    if (section) goOn()
    else bringIntoView(root.querySelector(".tour:not([hidden]), h2:target"))
  })
  goOn()

  if (problems.length) {
    try {
      history.replaceState(history.state, "", right)
    } catch {} // a sandbox or a file may refuse
  }
  return sentence(problems)
}

// One readable line of plain text from the parts of it.
function sentence(problems) {
  const line = problems.join("; ")
  return line ? `${line[0].toUpperCase()}${line.slice(1)}.` : ""
}

// The number that a value from outside writes, or NaN.
function readNumber(value) {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : NaN
}

// A value from outside as one short printable piece of text.
function shortened(value) {
  const letters = [...value.replace(/[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "�")]
  return letters.length <= 24 ? letters.join("") : `${letters.slice(0, 23).join("")}…`
}
