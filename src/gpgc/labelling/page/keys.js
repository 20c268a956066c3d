// Which key means what.

export default function keys(page) {
  const { map, model, state } = page;
  const { root, canvas, dialog } = page.parts;

  function press(event) {
    if (dialog.open || event.repeat || event.altKey) return; // all fields to type in are in the dialog
    const action = meant(event);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  function meant(event) {
    const { key, shiftKey, target } = event;
    if (event.ctrlKey || event.metaKey) {
      if (key === "z" && !shiftKey) return () => page.post({ do: "undo" });
      if (key === "y" || (key.toLowerCase() === "z" && shiftKey)) return () => page.post({ do: "redo" });
      return null;
    }
    if (target === canvas && map.works) {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key];
      if (step) return () => map.mark(map.towards(...step) ?? map.current);
      if (key === "Enter" && map.current !== null) return () => page.visit(map.current);
    }
    const digit = /^Digit(\d)$/.exec(event.code)?.[1] ?? (/^\d$/.test(key) ? key : null);
    const wanted = digit ? (shiftKey ? `⇧${digit}` : digit) : key;
    const found = state.classes.find((each) => each.key === wanted);
    if (found) return () => page.decide(found.name);
    if (digit) return null;
    return {
      Backspace: () => page.post({ do: "undo" }),
      n: page.openClass,
      s: () => page.skip(),
      u: () => page.skip("unsure"),
      p: page.togglePrediction,
      m: () => canvas.focus(),
      b: page.openLasso,
      "/": page.openSearch,
      "?": page.openHelp,
      F: page.openFinish,
      ArrowLeft: () => page.walk(1),
      ArrowRight: () => page.walk(-1),
      Escape: page.leave,
    }[key];
  }

  /** Listen; returns how to stop. */
  function listenToKeys() {
    const keys = model.get("keys") ?? root;
    keys.addEventListener("keydown", press);
    if (keys === root) {
      root.tabIndex = 0;
      root.addEventListener("pointerup", (event) => event.target.closest("button, input, a, canvas") || root.focus());
    }
    return () => keys.removeEventListener("keydown", press);
  }

  return { listenToKeys };
}
