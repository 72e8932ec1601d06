// Work that may wait: after the next paint, when nothing else is to be done.

function afterPaint(next) {
  const whenIdle = window.requestIdleCallback ?? setTimeout
  requestAnimationFrame(() => whenIdle(next))
}
