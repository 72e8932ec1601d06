// The page around the explorer: height and changes go out, a choice and a theme may come in.
// Nothing else of the host is read, and what is not sound is ignored. Returns how to tell a change.

function talkToHost(root, page, take) {
  const tell = (message) => {
    if (window.parent !== window) window.parent.postMessage(message, "*")
  }

  let height
  new ResizeObserver(() => {
    const now = Math.ceil(root.getBoundingClientRect().height)
    if (now === height || "late" in root.dataset || !window.innerWidth) return // a frame folded away has no height
    height = now
    tell({type: "alibi-explorer:height", height})
    tell({subject: "lti.frameResize", height})
  }).observe(root)

  const theme = root.querySelector("select[name=theme]")
  window.addEventListener("message", ({source, data}) => {
    if (source !== window.parent || data?.type !== "alibi-explorer:set") return
    const {type, theme: name, ...part} = data
    const known = [...theme.options].some((option) => option.value === name)
    if (!page.isSound(part) || (name !== undefined && !known)) return
    if (name !== undefined) {
      theme.value = name
      theme.dispatchEvent(new Event("change"))
    }
    if (Object.keys(part).length) take(part)
  })

  return (choice) => tell({type: "alibi-explorer:change", ...choice})
}
