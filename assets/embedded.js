// The page without a server: it looks fills up in the table of the lesson and computes none.

{
  const root = document.querySelector(".alibi")
  const viewNotice = arrangeExplorer(root, location.search)

  const unpacked = () => {
    const letters = atob(document.getElementById("lesson").textContent)
    const packed = new Uint8Array(letters.length)
    for (let at = 0; at < letters.length; at += 1) packed[at] = letters.charCodeAt(at)
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json()
  }
  const early = [] // messages of a host that does not wait
  const keep = (event) => early.push(event)
  window.addEventListener("message", keep)

  let begun = false
  const begin = async () => {
    if (begun) return
    begun = true
    try {
      startExplorer(root, await unpacked(), viewNotice)
      window.removeEventListener("message", keep)
      for (const {data, source} of early) window.dispatchEvent(new MessageEvent("message", {data, source}))
    } catch (error) {
      const line = root.querySelector(".connection")
      line.textContent = "This browser cannot run the explorer, so the controls do nothing: this is one fixed choice."
      line.hidden = false
      throw error
    } finally {
      delete root.dataset.waiting
    }
  }

  // A choice that the URL asks for is what one sees first; what stands there already is painted before.
  const asked = new URLSearchParams(location.search)
  const differs = ([name, value]) => asked.has(name) && asked.getAll(name).at(-1) !== String(value)
  if (root.dataset.tour || Object.entries(JSON.parse(root.dataset.choice)).some(differs)) {
    root.dataset.waiting = ""
    begin()
  } else {
    afterPaint(begin)
    setTimeout(begin, 500) // a frame that is out of view is not painted
  }
}

function startExplorer(root, lesson, viewNotice) {
  // Rows come as differences, from the block before and from the first of the row before.
  for (const {rows} of Object.values(lesson.slots)) {
    let first = 0
    for (const row of rows) {
      if (!row) continue
      let number = first
      for (const at of row.keys()) row[at] = number += row[at]
      first = row[0]
    }
  }
  const headsOf = (count) => [...lesson.slopes[count].keys()]

  // Blocks are numbered form by form; what fills a gap stands in one text for all blocks of a form.
  const blocks = lesson.blocks.flatMap((gaps, form) => {
    const columns = gaps.map((gap) => gap.split("\t"))
    const alike = columns[0] ?? [""] // without a gap the form is one block
    return alike.map((_, at) => ({columns, at, skeleton: lesson.skeletons[form]}))
  })
  const block = (number) => {
    const {columns, at, skeleton} = blocks[number]
    return skeleton.map((text, gap) => text + (columns[gap]?.[at] ?? "")).join("")
  }
  const lookUp = ({rows}, place) => rows[place].map(block).join("")

  // The place of every slot's fill in its rows, for a choice.
  const placesOf = (choice) => {
    const values = {...choice, slope: lesson.slopes[choice.heads][choice.head]}
    const place = ({on}) => on.reduce((at, name) => {
      const choices = lesson.choices[name]
      return at * choices.length + choices.indexOf(values[name])
    }, 0)
    return Object.fromEntries(Object.entries(lesson.slots).map(([name, slot]) => [name, place(slot)]))
  }

  const show = (choice) => {
    const fills = {}
    const places = placesOf(choice)
    for (const [name, place] of Object.entries(places)) {
      if (shown[name] !== place) fills[name] = () => lookUp(lesson.slots[name], place)
    }
    shown = places
    page.show(fills, choice)
    page.setControls(choice)
  }

  const pick = (part) => {
    if (Object.entries(part).every(([name, value]) => choice[name] === value)) return
    choose(part)
    page.notify("")
    writeUrl(choice)
    tell(page.brief(choice))
  }
  const page = createExplorer(root, pick)
  const writeUrl = addressWriter(page)
  let choice = page.controls()
  const standing = JSON.parse(root.dataset.choice)
  let shown = placesOf(standing)
  const tour = createTour(root, page, pick, writeUrl)

  // Fewer heads keep the head where it still exists, else head 0.
  const choose = (part) => {
    choice = {...choice, ...part}
    if (!headsOf(choice.heads).includes(choice.head)) choice.head = 0
    show(choice)
  }

  // What the URL asks for, or the choice nearest to it and one line that says so.
  const fromUrl = () => {
    const asked = new URLSearchParams(location.search)
    const problems = []
    const fill = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name])
    const nearest = (name, choices, current) => {
      const value = asked.getAll(name).at(-1)
      if (value === undefined) return current
      const number = readNumber(value)
      const [first, last] = [choices.at(0), choices.at(-1)]
      const within = Math.min(Math.max(number, first), last)
      const closer = (best, other) => (Math.abs(other - within) < Math.abs(best - within) ? other : best)
      const chosen = Number.isNaN(number) ? current : choices.reduce(closer)
      if (number !== chosen) {
        const kind = choices.length < last - first + 1 ? "list" : "range"
        const valid = fill(lesson.notice[first === last ? "only" : kind], {first, last, listed: choices.join(", ")})
        problems.push(fill(lesson.notice.wrong, {name, shown: shortened(value), valid, chosen}))
      }
      return chosen
    }
    const heads = nearest("heads", lesson.choices.heads, choice.heads)
    const kept = headsOf(heads).includes(choice.head) ? choice.head : 0
    const part = {heads, head: nearest("head", headsOf(heads), kept)}
    for (const [name, choices] of Object.entries(lesson.choices)) {
      if (name in choice) part[name] ??= nearest(name, choices, choice[name])
    }
    return [part, sentence(problems)]
  }

  const theme = root.querySelector("select[name=theme]")
  theme.addEventListener("change", () => {
    root.dataset.theme = theme.value
  })
  const tell = talkToHost(root, page, (part) => {
    choose(part)
    page.notify("")
  })

  const [part, notice] = fromUrl()
  const picked = Object.entries(choice).filter(([name, value]) => value !== standing[name]) // before the script began
  choose({...part, ...Object.fromEntries(picked)})
  tour.open()
  page.notify([notice, viewNotice].filter(Boolean).join(" "))
  window.addEventListener("beforeprint", () => {
    for (const folded of root.querySelectorAll("details")) folded.open = true
  })
}
