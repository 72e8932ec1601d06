// A walk through the page. Each step of the list picks its choice, as a click would, and stands above the
// section that it speaks of. The address follows.

function createTour(root, {partOf}, pick, writeUrl) {
  const panel = root.querySelector(".tour")
  const start = root.querySelector("[data-tour-start]")
  const steps = [...panel.querySelectorAll("li")]
  const [back, next, leave] = panel.querySelectorAll("button")
  let at = 0
  let waits = false // for the fills of its step

  const go = (to, button) => {
    if (!steps[to]) return
    at = to
    const section = root.querySelector(`[data-section="${steps[at].dataset.show}"]`)
    delete section.dataset.late
    section.before(panel)
    panel.hidden = false
    for (const step of steps) step.hidden = step !== steps[at]
    panel.querySelector(".at").textContent = `Step ${at + 1} of ${steps.length}`
    back.setAttribute("aria-disabled", at === 0)
    next.setAttribute("aria-disabled", at + 1 === steps.length)
    waits = true
    pick(partOf(steps[at]))
    writeUrl({tour: at + 1})
    bringIntoView(panel)
    button?.focus({preventScroll: true}) // which a panel that moves has lost
  }
  start.addEventListener("click", () => go(0, next))
  back.addEventListener("click", () => go(at - 1, back))
  next.addEventListener("click", () => go(at + 1, next))
  leave.addEventListener("click", () => {
    panel.hidden = true
    writeUrl({tour: undefined})
    const heading = panel.nextElementSibling.querySelector("h2") // what is in view
    heading.tabIndex = -1
    heading.focus({preventScroll: true})
  })
  start.hidden = !steps.length

  return {
    // The step that the address asks for.
    open() {
      if (root.dataset.tour) go(Number(root.dataset.tour) - 1)
    },
    // Fills that come later have moved the panel.
    settle() {
      if (waits) bringIntoView(panel)
      waits = false
    },
  }
}
