{
  const root = document.querySelector(".alibi")
  const line = root.querySelector(".notice")
  line.textContent = [line.textContent, arrangeExplorer(root, location.search)].filter(Boolean).join(" ")
}

// Runs the scripts of the template "live" in their order, once the text of the page has been painted.

requestAnimationFrame(() => setTimeout(async () => {
  let arriving = []
  try {
    for (const {attributes, textContent, src} of document.getElementById("live").content.querySelectorAll("script")) {
      const script = document.createElement("script")
      for (const {name, value} of attributes) script.setAttribute(name, value)
      script.textContent = textContent
      if (src) {
        script.async = false
        arriving.push(new Promise((done, failed) => Object.assign(script, {onload: done, onerror: failed})))
      } else {
        await Promise.all(arriving)
        arriving = []
      }
      document.body.append(script)
    }
  } catch {
    const line = document.querySelector(".alibi .connection")
    line.textContent = "The scripts of this page did not arrive, so its controls do nothing yet. Reload the page to try again."
    line.hidden = false
  }
}))
