// Practice: compares an answer with what stands beside its question. Nothing is kept or sent.

function practise(root) {
  // A number as readers write it, with its unit or without: "-1.25", "−1,25", "-5/4", "1 logit".
  const read = (text, unit) => {
    const units = [unit, unit.replace(/s\b/, "")].map((name) => name.replace(/\s/g, ""))
    const plain = text.normalize("NFKC").replace(/\s/g, "").replace(/[−–]/g, "-").replaceAll(",", ".")
    const bare = plain.slice(0, plain.length - (units.find((name) => plain.endsWith(name)) ?? "").length)
    const [, over, under = "1"] = bare.match(/^([+-]?(?:\d+\.?\d*|\.\d+))(?:\/(\d+\.?\d*|\.\d+))?$/) ?? []
    return Number(over) / Number(under)
  }

  // What the question says of the answer given, and whether it could be read at all.
  const judge = (question) => {
    const field = question.querySelector("input[data-unit]")
    const number = field && read(field.value, field.dataset.unit)
    if (field && !Number.isFinite(number)) return ["Write a number, please: digits, with a point, a comma or a slash if needed" + (field.dataset.unit && `, in ${field.dataset.unit}`) + ".", false]
    const isGiven = ({dataset}) => Math.abs(number - Number(dataset.value)) <= Number(dataset.tolerance)
    const given = field
      ? [...question.querySelectorAll("[data-value]")].find(isGiven) ?? field
      : question.querySelector("input:checked")
    if (!given) return ["Choose an answer first, please.", false]
    const {correction} = given.dataset
    return [correction ? `Not quite: ${correction}` : "Right.", true]
  }

  const check = (question) => {
    const [verdict, isRead] = judge(question)
    question.querySelector(".verdict").textContent = verdict
    if (isRead) question.querySelector(".answer").hidden = false
  }

  root.addEventListener("click", ({target}) => {
    if (target.closest("[data-check]")) check(target.closest("[data-question]"))
    const {to, part} = target.closest("[data-to]")?.dataset ?? {}
    if (!to) return
    const section = `[data-section="${to}"]:not([hidden])`
    const heading = root.querySelector(part ? `${section} [data-part="${part}"]` : `${section} h2`) ?? root.querySelector(".controls")
    heading.tabIndex = -1
    heading.scrollIntoView()
    heading.focus({preventScroll: true})
  })
  root.addEventListener("keydown", (event) => {
    const question = event.target.matches("input") && event.target.closest("[data-question]")
    if (!question || event.key !== "Enter") return
    event.preventDefault()
    check(question)
  })
  root.addEventListener("input", ({target}) => {
    const question = target.closest("[data-question]")
    if (question) question.querySelector(".verdict").textContent = "" // it was on another answer
  })
}
