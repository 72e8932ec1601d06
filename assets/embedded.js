// The page without a server: it looks fills up in the table of the lesson and computes none.

(() => {
  const lesson = JSON.parse(document.getElementById("lesson").textContent)
  const root = document.querySelector(".alibi")
  const headsOf = (count) => [...lesson.slopes[count].keys()]

  const block = (number) => {
    const [form, filled] = lesson.blocks[number]
    const pieces = filled.split("\t")
    return lesson.skeletons[form].map((text, gap) => text + (pieces[gap] ?? "")).join("")
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
      if (shown[name] !== place) fills[name] = lookUp(lesson.slots[name], place)
    }
    shown = places
    page.put(fills)
    page.setControls(choice)
    page.mark(choice)
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
  let shown = placesOf(choice)

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
      const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : NaN
      const [first, last] = [choices.at(0), choices.at(-1)]
      const within = Math.min(Math.max(number, first), last)
      const closer = (best, other) => (Math.abs(other - within) < Math.abs(best - within) ? other : best)
      const chosen = Number.isNaN(number) ? current : choices.reduce(closer)
      if (number !== chosen) {
        const valid = fill(first === last ? lesson.notice.only : lesson.notice.range, {first, last})
        problems.push(fill(lesson.notice.wrong, {name, shown: shortened(value), valid, chosen}))
      }
      return chosen
    }
    const heads = nearest("heads", lesson.choices.heads, choice.heads)
    const kept = headsOf(heads).includes(choice.head) ? choice.head : 0
    const part = {heads, head: nearest("head", headsOf(heads), kept)}
    for (const name of Object.keys(choice)) part[name] ??= nearest(name, lesson.choices[name], choice[name])
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
  const viewNotice = arrangeExplorer(root, location.search)
  choose(part)
  page.notify([notice, viewNotice].filter(Boolean).join(" "))
  window.addEventListener("beforeprint", () => {
    for (const folded of root.querySelectorAll("details")) folded.open = true
  })
})()
