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

// Gives an element this HTML by changing what differs from it: the rest need not be styled, laid out and painted
// anew, and keeps its focus. What the page itself sets on what is there stays.
function renew(element, html) {
  const wanted = element.cloneNode(false)
  wanted.innerHTML = html
  renewChildren(element, wanted)
}

function renewChildren(element, wanted) {
  let child = element.firstChild
  for (let next = wanted.firstChild, after; next; next = after) {
    after = next.nextSibling
    const following = child?.nextSibling
    if (!child) element.append(next)
    else if (child.nodeName !== next.nodeName) child.replaceWith(next)
    else if (!child.isEqualNode(next)) renewNode(child, next)
    child = following
  }
  while (child) {
    const following = child.nextSibling
    child.remove()
    child = following
  }
}

function renewNode(node, wanted) {
  if (node.nodeType !== Node.ELEMENT_NODE) {
    node.data = wanted.data
    return
  }
  const ours = ["aria-current", "tabindex", "open"]
  for (const {name, value} of wanted.attributes) {
    if (!ours.includes(name) && node.getAttribute(name) !== value) node.setAttribute(name, value)
  }
  for (const name of node.getAttributeNames()) {
    if (!ours.includes(name) && !wanted.hasAttribute(name)) node.removeAttribute(name)
  }
  renewChildren(node, wanted)
}
