// Work that may wait: after the next paint, when nothing else is to be done, but soon.

function afterPaint(next) {
  const whenIdle = window.requestIdleCallback ?? setTimeout
  requestAnimationFrame(() => whenIdle(next, {timeout: 200}))
}
