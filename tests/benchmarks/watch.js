// Added to every measured page before its own scripts. All times are performance.now(), whose
// zero is the start of the navigation.
window.bench = (() => {
  let readout = null;

  // The readout may sit inside open shadow roots, as everything that Bokeh draws does.
  const find = (root, css) => {
    const hit = root.querySelector(css);
    if (hit) return hit;
    for (const host of root.querySelectorAll("*")) {
      const inner = host.shadowRoot && find(host.shadowRoot, css);
      if (inner) return inner;
    }
    return null;
  };

  const text = (css) => {
    if (!readout?.isConnected) readout = find(document, css);
    return (readout?.value ?? readout?.textContent ?? "").trimStart();
  };

  const visible = () =>
    readout.checkVisibility({ opacityProperty: true, visibilityProperty: true });

  // Looks once a frame. When the readout starts with `prefix`, that frame is still to be
  // painted; the next one is the time.
  const shown = (css, prefix, limit) =>
    new Promise((resolve, reject) => {
      const end = performance.now() + limit;
      const look = () => {
        if (text(css).startsWith(prefix) && visible()) {
          requestAnimationFrame(() => resolve(performance.now()));
        } else if (performance.now() > end) {
          reject(new Error(`the readout is "${text(css)}", never "${prefix}"`));
        } else {
          requestAnimationFrame(look);
        }
      };
      requestAnimationFrame(look);
    });

  const bench = { pressed: null, pending: null, settled: true };

  window.addEventListener("keydown", () => { bench.pressed = performance.now(); }, true);

  // Starts to look and returns at once, so that a key can be pressed before `pending` is awaited.
  bench.expect = (css, prefix, limit) => {
    bench.settled = false;
    bench.pending = shown(css, prefix, limit);
    bench.pending.catch(() => {}).then(() => { bench.settled = true; });
  };

  // Focuses a control and returns its value as text; null while it is not there.
  bench.focus = (css, nth) => {
    const control = document.querySelectorAll(css)[nth];
    control?.focus();
    return control?.getAttribute("aria-valuenow") ?? control?.value ?? null;
  };

  return bench;
})();
