// Fingers, mouse and wheel on the map.

const MOVED = 4; // pixels from which on a click is a drag

export function attend(map) {
  const { canvas, view } = map;
  const held = new Map(); // pointers that are down
  let start = null;
  let apart = 0;

  const between = () => {
    const [a, b] = held.values();
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, distance: Math.hypot(a.x - b.x, a.y - b.y) };
  };

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    map.zoomAt(event.clientX - box.left, event.clientY - box.top, Math.exp(-event.deltaY * 0.0015));
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = [event.offsetX, event.offsetY];
    held.set(event.pointerId, { x, y });
    map.on.hover(null);
    if (held.size === 2) {
      apart = between().distance;
      start = map.loop = null;
      return;
    }
    start = { x, y, moved: false, vx: view.x, vy: view.y };
    if (event.shiftKey || map.lassoing) map.loop = [[x, y]];
  });

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = [event.offsetX, event.offsetY];
    if (!held.size) return map.on.hover(map.nearest(x, y, 10), x, y);
    held.set(event.pointerId, { x, y });
    if (held.size === 2) {
      const now = between();
      map.zoomAt(now.x, now.y, now.distance / Math.max(apart, 1));
      apart = now.distance;
    } else if (start) {
      const [dx, dy] = [x - start.x, y - start.y];
      start.moved ||= Math.hypot(dx, dy) > MOVED;
      if (map.loop) map.loop.push([x, y]);
      else if (start.moved) {
        const half = (Math.min(canvas.clientWidth, canvas.clientHeight) / 2) * view.zoom;
        view.x = start.vx - dx / half;
        view.y = start.vy + dy / half;
      }
      map.draw();
    }
  });

  canvas.addEventListener("pointerup", (event) => {
    held.delete(event.pointerId);
    if (map.loop) {
      const inside = map.inside(map.loop);
      map.loop = null;
      if (inside.length) map.on.lasso(inside);
    } else if (start && !start.moved) {
      const node = map.nearest(event.offsetX, event.offsetY);
      if (node !== null) map.on.pick(node);
    }
    start = null;
    map.draw();
  });

  canvas.addEventListener("pointercancel", (event) => {
    held.delete(event.pointerId);
    start = map.loop = null;
    map.draw();
  });
  canvas.addEventListener("pointerleave", () => held.size || map.on.hover(null));
}
