// Work that may wait: after the next paint, when nothing else is to be done, but soon.

function afterPaint(next) {
  const whenIdle = window.requestIdleCallback ?? setTimeout
  requestAnimationFrame(() => whenIdle(next, {timeout: 200}))
}

// To the top of the view, and there again once what came into view has its own height.
function bringIntoView(element) {
  element?.scrollIntoView()
  afterPaint(() => element?.scrollIntoView())
}
