// What every host of the explorer shares: it puts in fills, marks what is chosen and tells what
// the reader picks. It holds no number of the lesson and computes none.

// Keeps the address in step, at a pause: browsers refuse many changes of it in a row, and a sandbox or a
// file may refuse every one.
function addressWriter({opening}) {
  const pending = {}
  let timer = null
  return (part) => {
    Object.assign(pending, part)
    clearTimeout(timer)
    timer = setTimeout(() => {
      const url = new URL(location.href)
      for (const [name, value] of Object.entries(pending)) {
        if (opening[name] === value) url.searchParams.delete(name)
        else url.searchParams.set(name, value)
      }
      try {
        history.replaceState(history.state, "", url)
      } catch {}
    }, 150)
  }
}

function createExplorer(root, choose) {
  const opening = JSON.parse(root.dataset.opening) // of what single sections ask for
  const names = Object.keys(JSON.parse(root.dataset.choice))
  const forms = [...root.querySelectorAll("form")]
  const control = Object.fromEntries(names.map((name) => [name, forms.map(({elements}) => elements.namedItem(name)).find(Boolean)]))

  // Without what stands as it does at the opening and one section alone follows.
  const brief = (choice) => Object.fromEntries(Object.entries(choice).filter(([name, value]) => opening[name] !== value))

  // What a section says of its own control is announced when that is used; else the first sentence speaks.
  const pick = (part) => {
    for (const line of root.querySelectorAll("[data-says]")) {
      line.ariaLive = line.dataset.says.split(",").some((name) => name in part) ? "polite" : "off"
    }
    choose(part)
  }

  // The part of the choice that an element stands for, such as {query: 3, key: 1}.
  const partOf = (element) => {
    const part = {}
    for (const name of names) {
      if (name in element.dataset) part[name] = Number(element.dataset[name])
    }
    return part
  }

  const controls = () => Object.fromEntries(names.map((name) => [name, Number(control[name].value)]))

  // Whether a part of a choice from outside names only what there is.
  const isSound = (part) => {
    const {heads} = {...controls(), ...part}
    const offers = (field, value) =>
      field.type === "range"
        ? Number.isInteger(value) && value >= Number(field.min) && value <= Number(field.max)
        : [...(field.options ?? field)].some((option) => Number(option.value) === value)
    return Object.entries(part).every(([name, value]) =>
      name === "head"
        ? Number.isInteger(value) && value >= 0 && value < heads
        : names.includes(name) && offers(control[name], value))
  }

  const slots = {}
  for (const slot of root.querySelectorAll("[data-slot]")) (slots[slot.dataset.slot] ??= []).push(slot)
  const put = (name, html) => {
    for (const slot of slots[name]) {
      const {value, options} = slot // what is chosen in a list stays chosen while its options are renewed
      renew(slot, html)
      if ([...(options ?? [])].some((option) => option.value === value)) slot.value = value
    }
  }

  const setControls = (choice) => {
    for (const [name, value] of Object.entries({...opening, ...choice})) {
      if (control[name].value !== String(value)) control[name].value = value
    }
  }

  // Marks what stands for the choice; in each grid that cell is the one that Tab reaches.
  const mark = (section, choice) => {
    const isChosen = (element) => Object.entries(partOf(element)).every(([name, value]) => choice[name] === value)
    for (const element of section.querySelectorAll("[aria-current]")) {
      if (!isChosen(element)) element.removeAttribute("aria-current")
    }
    for (const cell of section.querySelectorAll('[role=grid] td[tabindex="0"]')) {
      if (!isChosen(cell)) cell.tabIndex = -1
    }
    const some = names.map((name) => `[data-${name}="${choice[name]}"]`).join()
    for (const element of section.querySelectorAll(some)) {
      if (!isChosen(element)) continue
      element.setAttribute("aria-current", "true")
      if (element.matches("[role=grid] td")) element.tabIndex = 0
    }
  }

  // Where the choice itself stands in a text.
  const write = (section, choice) => {
    for (const place of section.querySelectorAll("[data-value-of]")) place.textContent = choice[place.dataset.valueOf]
  }

  // Shows a choice and the fills, {slot: a function that gives its HTML}: what is in view at once, the rest
  // section by section in the pauses after that is painted.
  const sections = [...root.querySelectorAll("section")]
  const outOfView = new Set()
  const stale = new Set()
  const waiting = {}
  let shown
  const fill = (name) => {
    if (!(name in waiting)) return
    put(name, waiting[name]())
    delete waiting[name]
  }
  const update = (section) => {
    for (const slot of section.querySelectorAll("[data-slot]")) fill(slot.dataset.slot)
    mark(section, shown)
    write(section, shown)
    stale.delete(section)
  }
  const updateRest = (pause) => {
    for (const section of stale) {
      if (pause?.timeRemaining() === 0 && !pause.didTimeout) return afterPaint(updateRest)
      update(section)
    }
  }
  const show = (fills, choice) => {
    Object.assign(waiting, fills)
    shown = choice
    for (const name of Object.keys(fills)) {
      if (!slots[name].every((slot) => slot.closest("section"))) fill(name)
    }
    for (const section of sections) {
      if (outOfView.has(section)) stale.add(section)
      else update(section)
    }
    afterPaint(updateRest)
  }
  window.addEventListener("beforeprint", () => updateRest())
  const watch = new IntersectionObserver((entries) => {
    for (const {target, isIntersecting} of entries) {
      if (!isIntersecting) outOfView.add(target)
      else if (outOfView.delete(target) && stale.has(target)) update(target)
    }
  })
  for (const section of sections) watch.observe(section)

  const notify = (notice) => {
    const line = root.querySelector(".notice")
    if (line.textContent !== notice) line.textContent = notice
  }

  // A link to what is chosen, the code that embeds it, and code to run.
  const share = root.querySelector(".share")
  const link = () => {
    const url = new URL(location.href)
    for (const name of [...names, "tour"]) url.searchParams.delete(name) // a step would set its own choice
    for (const [name, value] of Object.entries(brief(controls()))) url.searchParams.set(name, value)
    const {theme} = root.dataset
    if ([...root.querySelector("[name=theme]").options].find((option) => option.defaultSelected).value === theme) url.searchParams.delete("theme")
    else url.searchParams.set("theme", theme)
    return url.href
  }
  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")
  if (!["http:", "https:", "file:"].includes(location.protocol)) share.remove() // it has no address to share
  const wanted = {
    link,
    frame: () => share.dataset.frame.replace("{src}", () => escaped(link())),
    code: (button) => button.closest("details").querySelector("pre").textContent,
  }

  // Copies; where the clipboard is refused, as text to copy by hand.
  root.addEventListener("click", async ({target}) => {
    const button = target.closest("[data-copy]")
    if (!button) return
    const text = wanted[button.dataset.copy](button)
    const byHand = button.parentElement.querySelector(".by-hand")
    const said = button.parentElement.querySelector("[role=status]")
    try {
      const allowed = document.featurePolicy?.allowsFeature("clipboard-write") ?? true // asking in vain is logged
      if (!allowed) throw new Error("refused")
      await navigator.clipboard.writeText(text)
      byHand.hidden = true
      said.textContent = "Copied."
    } catch {
      said.textContent = ""
      byHand.hidden = false
      byHand.querySelector("textarea").value = text
      byHand.querySelector("textarea").select()
    }
  })

  root.addEventListener("submit", (event) => event.preventDefault())
  root.addEventListener("change", ({target: {name, value}}) => {
    if (names.includes(name)) pick({[name]: Number(value)})
  })

  root.addEventListener("click", (event) => {
    const target = event.target.closest("[data-pick], [role=grid] td")
    if (target && root.contains(target)) pick(partOf(target))
  })

  // In a grid the arrow keys walk the cells, Home and End go to the ends of the row, Enter chooses.
  root.addEventListener("keydown", (event) => {
    const cell = event.target.closest("[role=grid] td")
    if (!cell || event.altKey || event.ctrlKey || event.metaKey) return
    const row = cell.parentElement
    const cells = [...row.querySelectorAll("td")]
    const sameColumn = (other) => other?.querySelectorAll("td")[cells.indexOf(cell)]
    const goal = {
      ArrowLeft: () => cell.previousElementSibling?.closest("td"),
      ArrowRight: () => cell.nextElementSibling,
      ArrowUp: () => sameColumn(row.previousElementSibling),
      ArrowDown: () => sameColumn(row.nextElementSibling),
      Home: () => cells.at(0),
      End: () => cells.at(-1),
    }[event.key]
    if (goal) {
      event.preventDefault()
      const next = goal()
      if (!next) return
      cell.tabIndex = -1
      next.tabIndex = 0
      next.focus()
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault()
      pick(partOf(cell))
    }
  })

  // The contents lie over the page only while they are used.
  const contents = root.querySelector(".guide details")
  root.addEventListener("click", ({target}) => {
    if (!contents.contains(target)) contents.open = false
  })
  root.addEventListener("keydown", ({key}) => {
    if (key === "Escape") contents.open = false
  })

  // The contents: a shadow tree or a frame without an address of its own has no fragments to go to.
  root.addEventListener("click", (event) => {
    const link = event.target.closest(".guide a")
    if (!link || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    contents.open = false
    const heading = root.querySelector(link.hash)
    delete heading.closest("section").dataset.late
    bringIntoView(heading)
    heading.focus({preventScroll: true})
  })

  // Prints a section alone. Where printing is refused nothing ends it, so the next touch or key does.
  root.addEventListener("click", ({target}) => {
    if (!target.closest("[data-print-alone]")) return
    const section = target.closest("section")
    for (const folded of section.querySelectorAll("details")) folded.open = true
    root.dataset.print = section.dataset.section
    for (const end of ["afterprint", "pointerdown", "keydown"]) {
      window.addEventListener(end, () => delete root.dataset.print, {once: true})
    }
    window.print()
  })

  // Steps at the reader's pace: the style shows as much as has been reached.
  for (const stepper of root.querySelectorAll("[data-stepper]")) {
    const [back, next] = stepper.querySelectorAll("[data-by]")
    const words = stepper.querySelector(".words")
    const count = () => words.children.length
    const go = (step) => {
      if (step < 1 || step > count()) return
      stepper.dataset.step = step
      stepper.querySelector(".at").textContent = `Step ${step} of ${count()}`
      back.setAttribute("aria-disabled", step === 1) // a disabled button would lose the focus
      next.setAttribute("aria-disabled", step === count())
    }
    for (const button of [back, next]) {
      button.addEventListener("click", () => {
        words.ariaLive = "polite"
        go(Number(stepper.dataset.step) + Number(button.dataset.by))
      })
    }
    go(Number(stepper.dataset.step))
  }

  practise(root)
  root.dataset.live = ""
  return {opening, brief, partOf, controls, isSound, show, setControls, notify}
}
