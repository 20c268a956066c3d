// The notebook's side of the conversation: the kernel answers what the page's server answers.
import view from "./view.js";

function render({ model, el }) {
  const waiting = new Map();
  let serial = 0;
  const listeners = [];
  model.on("msg:custom", (message, buffers) => {
    if (typeof message.id === "string") {
      waiting.get(message.id)?.(message, buffers);
      waiting.delete(message.id);
    } else listeners.forEach((listener) => listener(message, buffers));
  });

  /** Ask for bytes; resolves with {message, bytes}. */
  const fetchBytes = (route, args) =>
    new Promise((resolve) => {
      const id = `bytes-${++serial}`;
      waiting.set(id, (message, buffers) => resolve({ message, bytes: buffers?.[0] }));
      model.send({ id, route, args });
    });

  const pictures = new Map();
  const picture = (route) => async (item) => {
    const name = `${route} ${item}`;
    if (!pictures.has(name)) {
      const { message, bytes } = await fetchBytes(route, { item });
      const blob = new Blob([bytes ?? ""], { type: message.kind || "text/plain" });
      pictures.set(name, URL.createObjectURL(message.ok ? blob : new Blob([message.body.problem])));
    }
    return pictures.get(name);
  };

  const host = {
    get: (name) =>
      ({
        images: picture("image"),
        thumbnails: picture("thumbnail"),
        exports: (file) => async () => (await fetchBytes("export", { name: file })).bytes,
        by: model.get("by"),
      })[name],
    on: (name, listener) => listeners.push(listener),
    send: (message) => model.send(message),
  };
  const leave = view.render({ model: host, el });
  return () => {
    pictures.forEach((address) => URL.revokeObjectURL(address));
    leave();
  };
}

export default { render };
