// All nodes as points, by WebGL2 and nothing else: colour is the class, opacity the certainty,
// a ring a given label, a cross the current item.
import { colourOf } from "./dom.js";
import { attend } from "./gestures.js";
import { CLASSES, FRAGMENT, VERTEX } from "./shaders.js";

const GLIDE = 700;
const WHOLE = { x: 0.12, y: -0.07, zoom: 0.86 }; // room for the note below and the buttons beside

export class NodeMap {
  /** Draws into a canvas; calls pick(node) on a click, lasso(nodes) after a drag with Shift, hover(node or null, x, y). */
  constructor(canvas, overlay, on) {
    this.canvas = canvas;
    this.overlay = overlay;
    this.on = on;
    this.gl = canvas.getContext("webgl2", { antialias: false, preserveDrawingBuffer: false });
    this.works = Boolean(this.gl);
    this.count = 0;
    this.view = { ...WHOLE };
    this.current = null;
    this.links = [];
    this.selected = [];
    this.lassoing = false;
    this.loop = null;
    this.glideStart = -Infinity;
    this.palette = new Float32Array(3 * CLASSES);
    if (!this.works) return;
    this.prepare();
    attend(this);
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  prepare() {
    const { gl } = this;
    this.program = link(gl, VERTEX, FRAGMENT);
    this.buffers = [0, 1, 2, 3].map(() => gl.createBuffer());
    this.points = gl.createVertexArray();
    gl.bindVertexArray(this.points);
    [[gl.UNSIGNED_SHORT, 2], [gl.UNSIGNED_SHORT, 2], [gl.UNSIGNED_BYTE, 2], [gl.UNSIGNED_BYTE, 1]].forEach(([kind, size], slot) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[slot]);
      gl.enableVertexAttribArray(slot);
      gl.vertexAttribPointer(slot, size, kind, true, 0, 0);
    });
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA); // colours are multiplied by their opacity
  }

  /** Places of all nodes, two whole numbers each; points glide there from where they were. */
  place(places) {
    const { gl } = this;
    const before = this.places && this.places.length === places.length ? this.places : places;
    this.places = places;
    this.count = places.length / 2;
    this.canvas.dataset.points = this.count;
    [before, places].forEach((data, slot) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[slot]);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    });
    if (this.mask?.length !== this.count) this.filter(null);
    if (!this.said) this.colour(new Uint8Array(this.count * 2).fill(255).map((v, i) => (i % 2 ? 0 : 255)));
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches || before === places || this.count > 200000;
    this.glideStart = still ? -Infinity : performance.now();
    this.draw();
  }

  /** Class and certainty of all nodes, a byte each. */
  colour(said) {
    this.said = said;
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[2]);
    gl.bufferData(gl.ARRAY_BUFFER, said, gl.DYNAMIC_DRAW);
    this.draw();
  }

  /** Colours of the classes, {place, colour}. */
  dress(classes) {
    for (const each of classes) this.palette.set(hexToRGB(colourOf(each)), 3 * (each.place % CLASSES));
    this.draw();
  }

  /** Let only some nodes stand out, by shown(node); all where there is no such function. */
  filter(shown) {
    const { gl } = this;
    this.mask = new Uint8Array(this.count).map(shown ? (_, node) => (shown(node) ? 255 : 0) : () => 255);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[3]);
    gl.bufferData(gl.ARRAY_BUFFER, this.mask, gl.DYNAMIC_DRAW);
    this.draw();
  }

  /** Show all of the map. */
  reset() {
    Object.assign(this.view, WHOLE);
    this.draw();
  }

  /** Zoom by a factor around a point of the screen. */
  zoomAt(x, y, factor) {
    const { canvas, view } = this;
    const half = Math.min(canvas.clientWidth, canvas.clientHeight) / 2;
    const [px, py] = [(x - canvas.clientWidth / 2) / half, (canvas.clientHeight / 2 - y) / half];
    const zoom = Math.min(400, Math.max(0.6, view.zoom * factor));
    view.x += px / view.zoom - px / zoom;
    view.y += py / view.zoom - py / zoom;
    view.zoom = zoom;
    this.draw();
  }

  /** Show which node is looked at, and the nodes that it is linked to. */
  mark(node, links = []) {
    this.current = node;
    this.links = links;
    if (this.works) this.trace();
  }

  /** Show which nodes are selected. */
  select(nodes) {
    this.selected = nodes;
    if (this.works) this.trace();
  }

  draw() {
    if (!this.works || this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  paint() {
    const { gl, canvas, view } = this;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!this.count || !this.said || this.said.length !== this.count * 2) return this.trace();
    const side = Math.min(width, height);
    const glide = Math.min(1, (performance.now() - this.glideStart) / GLIDE);
    const ink = toRGB(getComputedStyle(canvas).color);
    gl.useProgram(this.program);
    gl.bindVertexArray(this.points);
    const usual = this.count > 100000 ? 2 : this.count > 5000 ? 4 : this.count > 500 ? 6 : 8;
    const at = (name) => gl.getUniformLocation(this.program, name);
    gl.uniform3f(at("view"), view.x, view.y, view.zoom);
    gl.uniform2f(at("shape"), side / width, side / height);
    gl.uniform3f(at("ink"), ...ink);
    gl.uniform1f(at("glide"), glide * glide * (3 - 2 * glide));
    gl.uniform1f(at("size"), usual * ratio * Math.max(1, view.zoom ** 0.35));
    gl.uniform3fv(at("palette"), this.palette);
    gl.drawArrays(gl.POINTS, 0, this.count);
    this.trace();
    if (glide < 1) this.draw();
  }

  /** The cross, its links and the lasso, drawn above the points. */
  trace() {
    const { overlay, canvas } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (overlay.width !== width || overlay.height !== height) Object.assign(overlay, { width, height });
    const pen = overlay.getContext("2d");
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 1.5;
    if (this.current !== null && this.places) {
      const [x, y] = this.toScreen(...this.at(this.current));
      pen.globalAlpha = 0.35;
      pen.beginPath();
      for (const other of this.links) {
        pen.moveTo(x, y);
        pen.lineTo(...this.toScreen(...this.at(other)));
      }
      pen.stroke();
      pen.globalAlpha = 1;
      pen.beginPath();
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        pen.moveTo(x + dx * 6, y + dy * 6);
        pen.lineTo(x + dx * 15, y + dy * 15);
      }
      pen.stroke();
      pen.beginPath();
      pen.arc(x, y, 6, 0, 7);
      pen.stroke();
    }
    if (this.places) {
      pen.lineWidth = 1;
      pen.beginPath();
      for (const node of this.selected) {
        const [x, y] = this.toScreen(...this.at(node));
        pen.rect(x - 4, y - 4, 8, 8);
      }
      pen.stroke();
    }
    if (this.loop) {
      pen.setLineDash([4, 3]);
      pen.beginPath();
      this.loop.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  at(node) {
    return [this.places[2 * node] / 65535, this.places[2 * node + 1] / 65535];
  }

  toScreen(x, y) {
    const { canvas, view } = this;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    const half = Math.min(w, h) / 2;
    return [w / 2 + (x * 2 - 1 - view.x) * view.zoom * half, h / 2 - (y * 2 - 1 - view.y) * view.zoom * half];
  }

  /** The node nearest to a point of the screen, at most so many pixels away. */
  nearest(px, py, within = 14) {
    if (!this.places) return null;
    const { canvas, view } = this;
    const half = Math.min(canvas.clientWidth, canvas.clientHeight) / 2;
    const x = ((px - canvas.clientWidth / 2) / (view.zoom * half) + view.x + 1) * 32767.5;
    const y = ((canvas.clientHeight / 2 - py) / (view.zoom * half) + view.y + 1) * 32767.5;
    let best = (within / (view.zoom * half)) ** 2 * 32767.5 ** 2;
    let found = null;
    for (let i = 0, p = this.places; i < p.length; i += 2) {
      const d = (p[i] - x) ** 2 + (p[i + 1] - y) ** 2;
      if (d < best) [best, found] = [d, i / 2];
    }
    return found;
  }

  /** The nearest node in a direction, for the arrow keys. */
  towards(dx, dy) {
    if (this.current === null || !this.places) return null;
    const [x, y] = this.at(this.current);
    let best = Infinity;
    let found = null;
    for (let node = 0; node < this.count; node++) {
      const [ox, oy] = this.at(node);
      const [ex, ey] = [ox - x, oy - y];
      const along = ex * dx + ey * dy;
      if (along <= 0) continue;
      const cost = ex * ex + ey * ey + 3 * (ex * dy - ey * dx) ** 2;
      if (cost < best) [best, found] = [cost, node];
    }
    return found;
  }

  inside(loop) {
    const nodes = [];
    for (let node = 0; node < this.count; node++) {
      const [x, y] = this.toScreen(...this.at(node));
      let odd = false;
      for (let i = 0, j = loop.length - 1; i < loop.length; j = i++) {
        const [[xi, yi], [xj, yj]] = [loop[i], loop[j]];
        if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
      }
      if (odd) nodes.push(node);
    }
    return nodes;
  }
}

function link(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return program;
}

const hexToRGB = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
const toRGB = (text) => (text.match(/[\d.]+/g) || [0, 0, 0]).slice(0, 3).map((v) => v / 255);
