// The page's side of the conversation: the view asks and is answered by fetch, news come as
// server-sent events. In a notebook the kernel takes this place.
import view from "./view.js";

const listeners = [];
const tell = (message, buffers = []) => listeners.forEach((listener) => listener(message, buffers));

const by = new URLSearchParams(location.search).get("by") || "";

async function ask({ id, route, args = {} }) {
  try {
    const answer = await request(route, { ...args, by });
    const binary = answer.headers.get("content-type") === "application/octet-stream";
    if (binary) return tell({ id, ok: true }, [new DataView(await answer.arrayBuffer())]);
    const body = await answer.json();
    tell({ id, ok: answer.ok, status: answer.status, body });
  } catch {
    tell({ id, ok: false, status: 0, body: { problem: "The server does not answer." } });
  }
}

function request(route, args) {
  if (route === "events") {
    return fetch("/api/events", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(args),
    });
  }
  const { item, ...rest } = args;
  const path = item === undefined ? route : `${route}/${item}`;
  return fetch(`/api/${path}?${new URLSearchParams(rest)}`);
}

let source = null;
const NEWS = ["hello", "ready", "progress", "queue", "opinion", "estimate", "layout", "saved", "review", "failure", "stopping"];

function listen() {
  if (source) return;
  source = new EventSource("/events");
  for (const name of NEWS) {
    source.addEventListener(name, (event) => tell({ news: name, about: JSON.parse(event.data) }));
  }
  source.onerror = async () => {
    if (source?.readyState !== EventSource.CLOSED) return tell({ news: "lost", about: {} });
    source = null; // refused, for which the browser does not try again by itself
    const answer = await fetch("/api/session").catch(() => null);
    if (answer?.status === 401) tell({ news: "refused", about: await answer.json() });
    else tell({ news: "lost", about: {} });
    setTimeout(() => document.hidden || listen(), 2000);
  };
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden && source) {
    source.close();
    source = null;
  } else if (!document.hidden) listen();
});

const model = {
  get: (name) =>
    ({
      images: (item) => `/item/${item}/image`,
      thumbnails: (item) => `/item/${item}/thumbnail`,
      exports: (file) => `/export/${file}`,
      by,
      keys: document,
    })[name],
  on: (name, listener) => name === "msg:custom" && listeners.push(listener),
  send: (message) => ask(message),
};

view.render({ model, el: document.getElementById("gpgc") });
listen();
