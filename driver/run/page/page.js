// Draws a report. Names come from foreign files: they reach the page as text alone, never as markup.
"use strict";
(() => {
const report = JSON.parse(document.getElementById("report").textContent);
const nodes = report.nodes, constants = report.constants;
const at = id => document.getElementById(id);
const state = new URLSearchParams(location.hash.slice(1));

// ---- making elements ----

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "onclick") element.addEventListener("click", value);
    else if (value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter(c => c !== null && c !== undefined));
  return element;
}
const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// ---- numbers and words ----

const count = n => n.toLocaleString("en-US");
function bytes(n) {
  if (n < 1024) return `${n} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = -1;
  while (n >= 1023.95 && unit < units.length - 1) { n /= 1024; unit++; }
  return `${n.toFixed(n < 9.995 ? 2 : 1)} ${units[unit]}`;
}
function change(before, after) {
  if (!before) return "";
  const percent = (after - before) / before * 100;
  return `${percent > 0 ? "+" : percent < 0 ? "\u2212" : "\u00b1"}${Math.abs(percent).toFixed(1)} %`;
}
const short = op => op.replace(/^aten\./, "").replace(/^quantized_decomposed\./, "").replace(/\.default$/, "");
const typeOf = c => `${c.dtype} [${c.shape.join(", ")}]`;
const sizeOf = c => c.bytes ? bytes(c.bytes) : "a view, no bytes";
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
const cut = (text, n) => text.length > n ? `${text.slice(0, n - 1)}\u2026` : text;

// ---- who takes what ----

const byName = new Map(nodes.map((n, i) => [n.graph + n.name, i]));
const users = nodes.map(() => []);
nodes.forEach((n, i) => n.inputs.forEach(name => {
  const from = byName.get(name);
  if (from !== undefined && from < i && users[from][users[from].length - 1] !== i) users[from].push(i);
}));
const makerOf = (name, before) => {
  const i = byName.get(name);
  return i !== undefined && i < before ? i : -1;
};
const reasonText = new Map(report.reasons.map(r => [r.code, r.text]));

// ---- a list that draws only the rows in sight ----

function listing(scroll, height, row) {
  const space = scroll.firstElementChild;
  let items = [];
  function show() {
    const first = Math.max(0, Math.floor(scroll.scrollTop / height) - 8);
    const last = Math.min(items.length, Math.ceil((scroll.scrollTop + (scroll.clientHeight || 480)) / height) + 8);
    const rows = [];
    for (let i = first; i < last; i++) {
      const element = row(items[i]);
      element.style.top = `${i * height}px`;
      rows.push(element);
    }
    space.replaceChildren(...(items.length ? rows : [make("p", { class: "empty" }, "Nothing of that kind.")]));
  }
  scroll.addEventListener("scroll", show, { passive: true });
  window.addEventListener("resize", show);
  return {
    set(list) { items = list; space.style.height = `${Math.max(1, items.length) * height}px`; scroll.scrollTop = 0; show(); },
    reveal(item) {
      const i = items.indexOf(item);
      if (i >= 0 && (i * height < scroll.scrollTop || (i + 1) * height > scroll.scrollTop + scroll.clientHeight)) scroll.scrollTop = (i - 3) * height;
      show();
    },
  };
}

// ---- in short ----

function bar(parts) {
  const whole = parts.reduce((sum, p) => sum + p.n, 0) || 1;
  return make("div", { class: "bar" }, parts.filter(p => p.n).map(p => make("i", { class: p.is, style: `width:${(p.n / (p.of || whole) * 100).toFixed(2)}%` })));
}
function tile(what, figure, more, ...rest) {
  return make("div", { class: "tile" }, make("div", { class: "what" }, what), make("div", { class: "figure" }, figure, " ", make("small", {}, more)), ...rest);
}
function sizes(before, after) {
  const most = Math.max(before, after);
  return make("div", { class: "bars" }, bar([{ n: before, of: most, is: "is-before" }]), bar([{ n: after, of: most, is: "is-stored" }]));
}
function showTiles() {
  const s = report.summary, written = report.output !== null;
  const verdicts = [["folded", s.folded], ["kept", s.kept], ["dead", s.dead]];
  const nodesTile = tile("Nodes that need not run any more", count(s.folded + s.dead), `of ${count(s.nodes)}`,
    make("div", { class: "bars" }, bar(verdicts.map(([v, n]) => ({ n, is: `is-${v}` })))),
    make("div", { class: "key" }, verdicts.map(([v, n]) => make("span", {}, make("span", { class: `dot is-${v}` }), `${count(n)} ${v}`))));
  const after = written ? report.output.bytes : s.bytes_after;
  const before = written ? report.input.bytes : s.bytes_before;
  const tiles = [nodesTile];
  if (written)
    tiles.push(tile("File", bytes(after), change(before, after), sizes(before, after), make("div", { class: "key" }, `${bytes(before)} before`)));
  tiles.push(tile(written ? "Constants in it" : "Constants, as planned", bytes(s.bytes_after), change(s.bytes_before, s.bytes_after),
    sizes(s.bytes_before, s.bytes_after), make("div", { class: "key" }, `${bytes(s.bytes_before)} before`)));
  const views = constants.filter(c => !c.bytes).length;
  tiles.push(tile("New constants", count(constants.length), views ? `${count(views)} of them views` : "",
    make("div", { class: "key" }, s.carried ? `${plural(s.carried, "dequantize")} took views over` : `${bytes(constants.reduce((t, c) => t + c.bytes, 0))} computed`)));
  at("tiles").append(...tiles);
}

// ---- constants: list, drawing, tree ----

const bySize = constants.map((c, i) => i).sort((a, b) => constants[b].bytes - constants[a].bytes || a - b);
let constant = -1;
const constantList = listing(at("constants"), 48, i => {
  const c = constants[i];
  return make("button", { class: "pick", type: "button", "aria-current": String(i === constant), title: c.name, onclick: () => chooseConstant(i) },
    make("b", {}, c.name), make("span", {}, `${typeOf(c)} · ${sizeOf(c)}`));
});

// What a node's result is made of, back to stored values: node numbers, and names of values; with the longest way to each.
function ancestry(root, most) {
  const depth = new Map([[root, 0]]), links = [];
  let left = 0;
  for (let todo = [root]; todo.length; ) {
    const next = [];
    for (const of of todo) {
      for (const name of nodes[of].inputs) {
        const i = makerOf(name, of);
        const from = i >= 0 ? i : `=${name}`;
        if (!depth.has(from)) {
          if (depth.size >= most) { left++; continue; }
          depth.set(from, depth.get(of) + 1);
          if (i >= 0) next.push(i);
        }
        links.push([from, of]);
      }
    }
    todo = next;
  }
  for (let moved = true, rounds = 0; moved && rounds < most; rounds++) {
    moved = false;
    for (const [from, to] of links)
      if (depth.get(from) <= depth.get(to)) { depth.set(from, depth.get(to) + 1); moved = true; }
  }
  return { depth, links, left };
}

const BOX = { width: 156, height: 38, gapX: 46, gapY: 12, margin: 16, most: 70 };

function drawing(root) {
  const { depth, links, left } = ancestry(root, BOX.most);
  const layers = [];
  for (const [item, d] of depth) (layers[d] = layers[d] || []).push(item);
  const rows = Math.max(...layers.map(l => l.length));
  const width = layers.length * (BOX.width + BOX.gapX) - BOX.gapX + 2 * BOX.margin;
  const height = rows * (BOX.height + BOX.gapY) - BOX.gapY + 2 * BOX.margin;
  const place = new Map();
  layers.forEach((layer, d) => layer.forEach((item, k) => place.set(item, {
    x: BOX.margin + (layers.length - 1 - d) * (BOX.width + BOX.gapX),
    y: BOX.margin + (height - 2 * BOX.margin - layer.length * (BOX.height + BOX.gapY) + BOX.gapY) / 2 + k * (BOX.height + BOX.gapY),
  })));
  const edges = links.map(([from, to]) => {
    const a = place.get(from), b = place.get(to), y = BOX.height / 2, x = a.x + BOX.width, bend = Math.max(20, (b.x - x) / 2);
    return draw("path", { d: `M${x} ${a.y + y}C${x + bend} ${a.y + y} ${b.x - bend} ${b.y + y} ${b.x} ${b.y + y}` });
  });
  const boxes = [...place].map(([item, p]) => {
    const stored = typeof item === "string";
    const top = stored ? "stored" : short(nodes[item].op), below = stored ? item.slice(1) : nodes[item].name;
    const is = stored ? "stored" : nodes[item].verdict;
    return draw("g", { transform: `translate(${p.x} ${p.y})` }, draw("title", {}, `${top} ${below}`),
      draw("rect", { width: BOX.width, height: BOX.height, rx: 8, style: `stroke:var(--${is})` }),
      draw("text", { class: "op", x: 10, y: 16 }, cut(top, 20)), draw("text", { class: "of", x: 10, y: 30 }, cut(below, 23)));
  });
  return [make("div", { class: "drawing" }, draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" }, ...edges, ...boxes)),
    left ? make("p", { class: "muted" }, `The nearest ${BOX.most} are drawn; the tree below has all.`) : null];
}

function branch(name, before, open) {
  const i = makerOf(name, before);
  if (i < 0) return make("li", {}, make("span", { class: "turn" }, "\u00a0"), make("span", { class: "is-stored" }, name), make("span", { class: "muted" }, " stored"));
  const node = nodes[i], item = make("li", {});
  let below = null;
  function turn() {
    if (below) { below.remove(); below = null; } else { below = make("ul", {}, node.inputs.map(input => branch(input, i, false))); item.append(below); }
    button.firstChild.textContent = below ? "\u25be" : node.inputs.length ? "\u25b8" : "\u00b7";
  }
  const button = make("button", { class: "turn", type: "button", "aria-label": "open or close", onclick: turn }, document.createTextNode(node.inputs.length ? "\u25b8" : "\u00b7"));
  item.append(button, make("button", { type: "button", onclick: () => chooseNode(i, true) }, make("span", { class: `is-${node.verdict}` }, short(node.op)), ` ${node.name}`));
  if (open) turn();
  return item;
}

function chooseConstant(i) {
  constant = i;
  const c = constants[i], root = c.nodes.length ? byName.get(c.nodes[0]) : undefined;
  const finite = c.nonfinite ? ` · ${plural(c.nonfinite, "element")} not finite` : "";
  const parts = [make("h3", {}, c.name), make("p", { class: "muted" }, `${typeOf(c)} · ${sizeOf(c)}${finite}`)];
  if (root === undefined) parts.push(make("p", { class: "muted" }, "No node of the program makes it."));
  else parts.push(...drawing(root), make("div", { class: "tree" }, make("ul", {}, branch(c.nodes[0], nodes.length, true))));
  at("constant").replaceChildren(...parts.filter(Boolean));
  const view = at("constant").querySelector(".drawing");
  if (view) view.scrollTo(view.scrollWidth, (view.scrollHeight - view.clientHeight) / 2);
  constantList.reveal(i);
}

function findConstants(text) {
  const want = text.toLowerCase();
  constantList.set(bySize.filter(i => !want || constants[i].name.toLowerCase().includes(want)));
}

function showConstants() {
  at("constant-count").textContent = constants.length ? `${plural(constants.length, "constant")}, largest first` : "";
  at("constant-find").addEventListener("input", e => findConstants(e.target.value));
  if (!constants.length) {
    at("folded").querySelector(".panes").replaceWith(make("p", { class: "empty" }, "Nothing new is stored."));
    return;
  }
  findConstants("");
  const named = constants.findIndex(c => c.name === state.get("constant"));
  chooseConstant(named >= 0 ? named : bySize[0]);
}

// ---- reasons ----

let filter = { text: state.get("find") || "", verdict: state.get("show") || "", reason: state.get("reason") || "" };

function showReasons() {
  const list = [...report.reasons].sort((a, b) => b.count - a.count), most = list.length ? list[0].count : 1;
  at("reasons").replaceChildren(...(list.length ? list.map(r => make("button", {
    class: "reason", type: "button", "data-reason": r.code, "aria-pressed": String(filter.reason === r.code),
    onclick: () => { filter.reason = filter.reason === r.code ? "" : r.code; showReasons(); showNodes(); at("all").scrollIntoView({ behavior: "smooth" }); },
  }, make("span", {}, make("code", {}, r.code), make("small", {}, r.class)),
  make("span", {}, make("span", { class: "text" }, r.text), bar([{ n: r.count, of: most, is: r.class === "nature" ? "is-dead" : "is-kept" }])),
  make("span", { class: "n" }, count(r.count)))) : [make("p", { class: "empty" }, "Nothing stayed.")]));
}

// ---- every node ----

const COLUMNS = [
  { key: "name", label: "Name", of: n => n.name }, { key: "op", label: "Operator", of: n => n.op }, { key: "verdict", label: "Verdict", of: n => n.verdict },
  { key: "reason", label: "Reason", of: n => n.reason }, { key: "bytes", label: "Result", of: n => n.bytes, number: true },
  { key: "bytes_after", label: "Stored", of: n => n.bytes_after, number: true },
];
let order = { key: state.get("sort") || "", down: state.get("down") !== "0" }, chosen = -1;
const nodeList = listing(at("nodes"), 30, i => {
  const n = nodes[i];
  return make("button", { class: "row", type: "button", role: "row", "aria-current": String(i === chosen), title: n.detail || n.name, onclick: () => chooseNode(i, false) },
    make("span", { class: "name" }, n.graph + n.name), make("span", { class: "kind" }, short(n.op)), make("span", { class: `verdict is-${n.verdict}` }, n.verdict),
    make("span", {}, n.reason + (n.detail ? `: ${n.detail}` : "")), make("span", { class: "number" }, n.bytes ? bytes(n.bytes) : ""),
    make("span", { class: "number" }, n.bytes_after ? bytes(n.bytes_after) : ""));
});

function matching() {
  const want = filter.text.toLowerCase();
  const list = [];
  nodes.forEach((n, i) => {
    if (filter.verdict && n.verdict !== filter.verdict || filter.reason && n.reason !== filter.reason) return;
    if (want && !`${n.graph}${n.name}\n${n.op}\n${n.reason}\n${n.detail}`.toLowerCase().includes(want)) return;
    list.push(i);
  });
  const column = COLUMNS.find(c => c.key === order.key);
  if (!column) return list;
  const sign = order.down ? -1 : 1;
  return list.sort((a, b) => {
    const x = column.of(nodes[a]), y = column.of(nodes[b]);
    return (x < y ? -sign : x > y ? sign : 0) || a - b;
  });
}

function showNodes() {
  const list = matching();
  at("node-count").textContent = `${count(list.length)} of ${count(nodes.length)}`;
  at("labels").replaceChildren(...COLUMNS.map(c => make("button", {
    type: "button", role: "columnheader", class: c.number ? "number" : "", "aria-sort": order.key !== c.key ? "none" : order.down ? "descending" : "ascending",
    onclick: () => { order = { key: c.key, down: order.key === c.key ? !order.down : Boolean(c.number) }; showNodes(); },
  }, c.label + (order.key !== c.key ? "" : order.down ? " \u2193" : " \u2191"))));
  at("verdicts").replaceChildren(...["folded", "kept", "dead"].map(v => make("button", {
    class: `chip is-${v}`, type: "button", "aria-pressed": String(filter.verdict === v), onclick: () => { filter.verdict = filter.verdict === v ? "" : v; showNodes(); },
  }, v)), ...(filter.reason ? [make("button", { class: "chip", type: "button", onclick: () => { filter.reason = ""; showReasons(); showNodes(); } }, `${filter.reason} \u00d7`)] : []));
  nodeList.set(list);
}

const MOST_LINKS = 60;
function links(list, button) {
  const shown = list.slice(0, MOST_LINKS).map(button);
  return make("span", { class: "links" }, ...shown, list.length > MOST_LINKS ? make("span", {}, `and ${count(list.length - MOST_LINKS)} more`) : null);
}
const nodeLink = i => make("button", { type: "button", onclick: () => chooseNode(i, true) }, nodes[i].graph + nodes[i].name);

function chooseNode(i, reveal) {
  chosen = i;
  const n = nodes[i], rows = [];
  const say = (key, value) => rows.push(make("dt", {}, key), make("dd", {}, value));
  say("Operator", n.op);
  say("Verdict", make("span", { class: `verdict is-${n.verdict}` }, n.verdict));
  if (n.reason) say("Reason", `${reasonText.get(n.reason) || n.reason}${n.detail ? ` (${n.detail})` : ""}`);
  if (n.bytes) say("Result", bytes(n.bytes));
  if (n.bytes_before || n.bytes_after) say("Stored", `${bytes(n.bytes_before)} before, ${bytes(n.bytes_after)} after`);
  if (n.inputs.length) say("Takes", links(n.inputs, name => makerOf(name, i) >= 0 ? nodeLink(makerOf(name, i)) : make("span", { class: "is-stored" }, name)));
  if (n.sources.length) say("Comes from", links(n.sources, name => make("span", { class: "is-stored" }, name)));
  if (users[i].length) say("Taken by", links(users[i], nodeLink));
  at("node").replaceChildren(make("h3", {}, n.graph + n.name), make("dl", {}, ...rows));
  if (reveal && !matching().includes(i)) { filter = { text: "", verdict: "", reason: "" }; at("node-find").value = ""; showReasons(); showNodes(); }
  nodeList.reveal(i);
  if (reveal) at("all").scrollIntoView({ behavior: "smooth" });
}

// ---- the rest ----

function showHow() {
  const rows = [], say = (key, value) => rows.push(make("dt", {}, key), make("dd", {}, value));
  const o = report.options, run = report.run;
  say("Kernels", report.tool.caps);
  say("Growth allowed", o.max_growth === null ? "any" : bytes(o.max_growth));
  say("Memory", bytes(o.memory));
  const flags = Object.keys(o).filter(k => o[k] === true || Array.isArray(o[k]) && o[k].length);
  if (flags.length) say("Options", flags.map(k => `--${k.replaceAll("_", "-")}${Array.isArray(o[k]) ? ` ${o[k].join(" ")}` : ""}`).join(", "));
  if (run) {
    say("Took", `${run.seconds.toFixed(2)} s with ${plural(run.threads, "thread")}`);
    say("Read and written", `${bytes(run.read_bytes)} into memory, ${bytes(run.written_bytes)} written`);
    say("Most memory at once", bytes(run.peak_bytes));
  }
  at("how").querySelector("dl").append(...rows);
}

function showHead() {
  const name = report.input.path.split("/").pop();
  document.title = `${name} – qfold`;
  at("version").textContent = report.tool.version;
  at("kind").textContent = report.output ? "fold" : "plan, nothing written";
  at("title").textContent = name;
  at("paths").textContent = `${report.input.path} (${report.input.format}, ${bytes(report.input.bytes)})${report.output ? ` \u2192 ${report.output.path}` : ""}`;
  at("theme").addEventListener("click", () => {
    const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  if (state.get("theme")) document.documentElement.dataset.theme = state.get("theme") === "dark" ? "dark" : "light";
  at("notes").hidden = !report.diagnostics.length;
  at("notes").querySelector("ul").append(...report.diagnostics.slice(0, 200).map(d => make("li", {}, `${d.where}: ${d.text} (${d.code})`)));
}

showHead();
showTiles();
showConstants();
showReasons();
at("node-find").value = filter.text;
at("node-find").addEventListener("input", e => { filter.text = e.target.value; showNodes(); });
showNodes();
if (byName.has(state.get("node"))) chooseNode(byName.get(state.get("node")), false);
showHow();
})();
