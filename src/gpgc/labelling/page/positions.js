// Where the nodes stand on the map, and their colours.

export default function positions(page) {
  const { ask, map } = page;

  async function showLayout() {
    if (!map.works) return;
    const answer = await ask("layout");
    const bytes = answer.data;
    if (!answer.ok || !bytes?.byteLength) return;
    map.place(new Uint16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)));
    showColours();
  }

  async function showColours() {
    if (!map.works) return;
    const answer = await ask("colours");
    const bytes = answer.data;
    if (answer.ok && bytes) map.colour(new Uint8Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)));
  }

  return { showLayout, showColours };
}
