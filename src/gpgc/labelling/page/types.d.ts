// The types of the page's modules, for `tsc --checkJs`; nothing of this reaches a browser.

/** A class as the session describes it; `place` is that among all classes that ever were. */
export interface Klass {
  name: string;
  key: string;
  labels: number;
  place: number;
  colour?: string;
}

/** A class, and how probable it is. */
export type Guess = [string, number];

/** An item as the session describes it, and once it was prepared its element. */
export interface Item {
  item: number;
  id: string;
  label: string | null;
  text?: string;
  is_cut?: boolean;
  title?: string;
  image?: boolean;
  cells?: [string, string][];
  links?: number;
  suggestion?: [string, number | null];
  guess?: Guess | null;
  element?: HTMLElement;
}

/** An item in one line, in a grid ticked or not. */
export interface Tile {
  item: number;
  line: string;
  label?: string | null;
  skipped?: boolean;
  ticked?: boolean;
}

/** What a person did; `event` is its own name. */
export interface Decision {
  do: string;
  event?: string;
  item?: number;
  label?: string;
  [more: string]: unknown;
}

export interface Entry {
  item: number;
  line: string;
  label: string | null;
  do: string;
  items: number;
  by: string;
  before: { label: string | null; by: string }[];
}

/** An answer of the session: `body` as JSON, or `data`. */
export interface Answer {
  ok: boolean;
  status?: number;
  body?: any;
  data?: DataView;
}

/** The host of the view: a page over HTTP, or a notebook's kernel. */
export interface Model {
  get(name: string): any;
  on(name: string, listener: (message: any, buffers?: DataView[]) => void): void;
  send(message: { id: number | string; route: string; args: object }): void;
}

export interface Goal {
  accuracy: number;
  within: number;
  audits: [number, number];
  labels: number | null;
  is_far: boolean;
  items: number | null;
  minutes: number | null;
  is_reached: boolean;
}

export interface State {
  settings: any;
  classes: Klass[];
  desk: Item[];
  prepared: Map<number, Item>;
  visiting: Item | null;
  queue: number[];
  entries: Entry[];
  place: number;
  shownAt: number;
  shows: boolean;
  group: Tile[];
  sending: boolean;
  connected: boolean;
  stopped: boolean;
  labels: number;
  skipped: number;
  review: number;
  goal: Goal | null;
  audited: number;
  certificate: any;
  phase: string;
  layout: number;
  moved: boolean;
  outbox: Decision[];
}

/** What every module is given, and adds its functions to. */
export interface Page {
  model: Model;
  state: State;
  parts: ReturnType<typeof import("./parts.js").buildParts>;
  map: import("./map.js").NodeMap;
  ask(route: string, args?: object): Promise<Answer>;
  start(): Promise<void>;

  // words.js
  say(text: string): void;
  warn(text: string, isCalm?: boolean): void;
  warnOfUnsaved(): void;
  switchTheme(): void;
  showStatus(): void;
  // items.js
  prepare(data: Item): Item;
  show(): void;
  describe(item: Item): void;
  look(item: Item): Promise<void>;
  thumbnail(node: number): HTMLImageElement | null;
  visit(node: number): Promise<void>;
  forwardInQueue(): void;
  leave(): void;
  // classes.js
  tint<E extends HTMLElement>(element: E, name?: string | null): E;
  buildChip(each: Klass, onclick: () => void): HTMLButtonElement;
  showClasses(): void;
  markClass(label: string | null): void;
  showPrediction(item: Item | undefined): void;
  showThought(found?: { guess?: Guess | null }): void;
  togglePrediction(): void;
  // class_editor.js
  openClasses(): void;
  openFind(): void;
  // decisions.js
  holdKeys(): void;
  decide(label: string): void;
  skip(note?: string): void;
  // outbox.js
  post(event: Decision): void;
  deliver(): Promise<void>;
  refill(): Promise<void>;
  take(body: any): void;
  recover(): void;
  whenSaved(): Promise<boolean>;
  // history.js
  showHistory(): Promise<void>;
  walk(step: number): void;
  // estimate.js, goal.js
  showEstimate(): Promise<void>;
  buildGoal(found: Goal | null): HTMLElement;
  buildCertificate(measured: any): HTMLElement;
  // positions.js, legend.js
  mapHelp: string;
  showLayout(): Promise<void>;
  showColours(): Promise<void>;
  showLegend(): void;
  showPeople(): Promise<void>;
  hover(node: number | null, x?: number, y?: number): void;
  enlarge(wish?: boolean): void;
  // news.js
  soon(name: string, work: () => void, delay: number): void;
  hear(news: string, about: any): void;
  showProgress(progress: [number, string]): void;
  // dialogs.js
  openDialog(title: string, ...content: (Node | string | null)[]): void;
  form(onsubmit: () => void, ...content: (Node | string | null)[]): HTMLFormElement;
  exportLink(name: string): HTMLAnchorElement;
  openHelp(): void;
  openExport(): void;
  openClass(): void;
  openFinish(): void;
  // search.js
  openSearch(): Promise<void>;
  // tiles.js, group.js, confirm.js
  buildTiles(items: Tile[], changed: () => void, keys?: string[]): HTMLElement[];
  select(nodes: number[]): Promise<void>;
  clearGroup(): void;
  drawLasso(wanted?: boolean): void;
  openGroup(): void;
  labelGroup(label: string): void;
  openConfirm(): Promise<void>;
  retryConfirm(): void;
  acceptGroup(): Promise<void>;
  pressTile(key: string): void;
  isTile(key: string): boolean;
  // review.js
  showReviewCount(): void;
  openReview(): Promise<void>;
  retryReview(): void;
  keepIt(): void;
  changeIt(): void;
  labelIt(label: string): void;
  // suggestion.js
  showSuggestion(item: Item | null): void;
  acceptSuggestion(): void;
  // reading.js
  fade(): void;
  scrollUp(): void;
  scrollDown(): void;
  toggleGuide(): void;
  // keys.js
  listenToKeys(): () => void;
  keyOf(key: string): string;
  regainFocus(): void;
}
