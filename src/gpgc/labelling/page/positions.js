// Where the nodes stand on the map, and their colours.

/** The bytes of an answer alone; it may be a part of something larger. */
const copy = ({ buffer, byteOffset, byteLength }) => buffer.slice(byteOffset, byteOffset + byteLength);

/** @type {import("./types").Part} */
export default function positions(page) {
  const { ask, map } = page;
  const { mapNote, mapTools } = page.parts;

  async function showLayout() {
    if (!map.works) return;
    const answer = await ask("layout");
    const bytes = answer.data;
    if (!answer.ok || !bytes?.byteLength) return;
    if (mapTools.hidden) mapNote.textContent = page.mapHelp;
    mapTools.hidden = false;
    map.place(new Uint16Array(copy(bytes)));
    showColours();
  }

  async function showColours() {
    if (!map.works) return;
    const answer = await ask("colours");
    const bytes = answer.data;
    if (answer.ok && bytes) map.colour(new Uint8Array(copy(bytes)));
    page.showLegend();
  }

  return { showLayout, showColours, mapHelp: "drag · wheel · click to open · Shift + drag: select" };
}
