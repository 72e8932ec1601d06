// The served page and the notebook: picks go to the server, fills and figures come back.

export function render({model, el}) {
  if (model.html) el.innerHTML = model.html
  const root = (model.html ? el : document).querySelector(".alibi")
  const served = !model.html
  if (!served) delete root.dataset.late // nothing lays its sections out one by one
  let picks = 0
  let connected = true

  let said = "" // of the address, until the reader picks
  const pick = (part) => {
    picks += 1
    said = ""
    if (connected) model.send_msg({...part, picks})
    else writeUrl(part.heads <= page.controls().head ? {...part, head: 0} : part)
  }
  const page = createExplorer(root, pick)
  const writeUrl = served ? addressWriter(page) : () => {}
  const tour = createTour(root, page, pick, writeUrl)

  // The page around is told what the reader changes, and not what it asked for itself.
  let told = JSON.stringify(page.brief(page.controls()))
  let fromHost = false
  const take = (part) => {
    fromHost = true
    pick(part)
  }
  const tell = served ? talkToHost(root, page, take) : () => {}

  const showChecked = checkYours(root, (part) => {
    if (connected) model.send_msg(part)
    return connected
  })

  model.on("msg:custom", (message) => {
    if (message.checked) {
      showChecked(message.checked)
      return
    }
    const fills = Object.entries(message.fills).map(([name, html]) => [name, () => html])
    page.show(Object.fromEntries(fills), {...page.opening, ...message.choice})
    if (message.picks === picks) page.setControls(message.choice)
    if (message.notice !== undefined) page.notify(message.notice || said)
    writeUrl({...page.opening, ...message.choice})
    if (message.picks !== picks) return
    tour.settle()
    const now = JSON.stringify(message.choice)
    if (now !== told && !fromHost) tell(message.choice)
    told = now
    fromHost = false
  })

  // Figures take their colours from the theme that is on the page.
  const dark = matchMedia("(prefers-color-scheme: dark)")
  const theme = root.querySelector("select[name=theme]")
  const recolour = () => {
    root.dataset.theme = theme.value
    const isDark = theme.value === "dark" || (theme.value === "auto" && dark.matches)
    const colours = model.colours[isDark ? "dark" : "light"]
    for (const frame of model.frames) {
      for (const part of frame.references()) {
        for (const names of part.tags ?? []) {
          const entries = Object.entries(names).map(([attribute, name]) => [attribute, colours[name]])
          part.setv(Object.fromEntries(entries), {sync: false})
        }
      }
    }
  }
  theme.addEventListener("change", () => {
    recolour()
    writeUrl({theme: theme.value})
  })
  dark.addEventListener("change", recolour)
  recolour()

  // Each figure has an empty frame on the page; the server draws a section's figures once they are near.
  const frames = model.get_child("frames")
  const near = new IntersectionObserver((entries) => {
    for (const {isIntersecting, target} of entries) {
      if (!isIntersecting) continue
      near.unobserve(target)
      model.send_msg({figures: target.dataset.figure.split(".")[0]})
    }
  }, {rootMargin: "400px"})
  model.figure_names.forEach((name, index) => {
    const place = root.querySelector(`[data-figure="${name}"]`)
    place.append(frames[index])
    model.frames[index].properties.children.change.connect(recolour)
  })

  model.document.on_event("connection_lost", () => {
    connected = false
    const line = root.querySelector(".connection")
    line.textContent =
      "The connection to the server was lost. Your choice is kept: the page comes back with it as soon as the server answers."
    line.hidden = false
    const probe = document.querySelector("script[src]").src
    const retry = async () => {
      const answer = await fetch(probe, {method: "HEAD", cache: "no-store"}).catch(() => null)
      if (answer?.ok) location.reload()
      else setTimeout(retry, 1000)
    }
    setTimeout(retry, 1000)
  })

  page.show({}, page.controls())
  if (served) {
    writeUrl(page.controls())
    const opening = JSON.parse(root.dataset.choice)
    const early = Object.entries(page.controls()).filter(([name, value]) => value !== opening[name])
    const notice = root.querySelector(".notice").textContent
    pick(Object.fromEntries(early)) // picked before the connection stood
    tour.open()
    if (root.dataset.tour) said = notice
  } else {
    model.send_msg({all: true}) // a view shown again starts from the choice of today
  }
  for (const place of root.querySelectorAll("[data-figure]")) near.observe(place)
}
