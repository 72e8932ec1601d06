// Check yours: carries what the reader gives to the server, and shows the answer. What was given stays text.

function checkYours(root, send) {
  const form = root.querySelector("form.given")
  const judged = root.querySelector(".judged")
  const [text, table] = judged.children
  const {yours, file} = form.elements

  const show = (answer) => {
    judged.dataset.verdict = answer.verdict
    text.textContent = answer.text
    table.innerHTML = answer.table // numbers alone
    table.hidden = !answer.table
  }
  const say = (words) => show({verdict: "", text: words, table: ""})

  form.addEventListener("submit", async () => {
    const {num_heads, max_bias, schedule, attention} = Object.fromEntries(new FormData(form))
    const options = {num_heads, max_bias, schedule, attention}
    const end = Number(form.dataset.limit) + 1 // so that too much is seen to be too much
    const [chosen] = file.files
    say("Checking …")
    try {
      const given = chosen
        ? {file: await chosen.slice(0, end).arrayBuffer(), name: chosen.name}
        : {text: yours.value.slice(0, end)}
      if (!send({check: {...given, ...options}})) say("The server does not answer; what you gave is still here, so try again.")
    } catch {
      say("This file cannot be read; choose another.")
    }
  })

  // The file stands in place of the text, until something is written.
  yours.addEventListener("input", () => {
    file.value = ""
  })
  form.addEventListener("input", () => {
    judged.dataset.stale = "" // it was on something else
  })
  form.addEventListener("submit", () => delete judged.dataset.stale)

  const holdsFiles = ({dataTransfer}) => dataTransfer.types.includes("Files")
  form.addEventListener("dragover", (event) => {
    if (holdsFiles(event)) event.preventDefault()
  })
  form.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return
    event.preventDefault()
    if (event.dataTransfer.files.length > 1) return say("These are several files; drop one.")
    file.files = event.dataTransfer.files
    judged.dataset.stale = ""
  })
  return show
}
