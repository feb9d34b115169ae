// Controls of a page that is readable without them: sort and filter tables, another base, other views of charts, copies
// and downloads, an arm lit everywhere, and an address for each view.
"use strict";
(() => {
  const LABELS = 40; // of an axis: more are no list
  const FEW = 2; // rows that there is nothing to arrange in
  const UNITS = { k: 1e3, M: 1e6, B: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };
  const SCALE = 2; // pixels of a PNG for each of its chart

  const make = (name, attributes = {}, ...inner) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...inner);
    return element;
  };
  const button = (text, title, act) => {
    const element = make("button", { type: "button", title }, text);
    element.addEventListener("click", () => act(element));
    return element;
  };

  // The view in the address: #chart.view=ratio&answer-table.sort=2d; a fragment without = is a place.
  const view = {
    entries: new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : ""),
    get: (key) => view.entries.get(key),
    set: (key, value) => {
      if (value === null || value === "") view.entries.delete(key);
      else view.entries.set(key, value);
      history.replaceState(null, "", `${location.pathname}${location.search}${view.hash()}`);
    },
    hash: (place = "") => {
      const entries = new URLSearchParams(view.entries);
      if (place) entries.set("at", place);
      return [...entries].length ? `#${entries}` : "";
    },
  };

  const copy = async (text, element) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { value: text });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const before = element.textContent;
    element.textContent = "copied";
    setTimeout(() => { element.textContent = before; }, 1200);
  };
  const download = (name, address) => make("a", { href: address, download: name }).click();
  const slug = (text) => text.toLowerCase().replaceAll(/[^a-z0-9.]+/g, "-").replaceAll(/^-|-$/g, "");

  const markdown = ([heads, ...rows]) => {
    const line = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    return [line(heads), line(heads.map(() => "---")), ...rows.map(line), ""].join("\n");
  };
  const plain = (text) => (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(",", "") : text);
  const csv = (rows) => rows.map((row) => row.map(plain).map(
    (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")).join("\n") + "\n";
  const copies = (rows, parts = rows) => [
    button("Markdown", "Copy as Markdown", (element) => copy(markdown(rows()), element)),
    button("CSV", "Copy as CSV", (element) => copy(csv(parts()), element)),
  ];
  const query = () => (document.body.dataset.plan ? [button("stepgrid query … --format csv|parquet",
    "Copy the command that writes all figures", (element) => copy(
      `stepgrid query --plan ${document.body.dataset.plan} "FROM steps" --format csv`, element))] : []);
  const link = (id) => button("link", "Copy the address of this view",
    (element) => copy(`${location.href.split("#")[0]}${view.hash(id) || `#${id}`}`, element));

  // Another base: what was judged against it by the same rules takes the place of what is shown
  const views = [...document.querySelectorAll("[data-for-base]")];
  const bases = [...new Set(views.map((element) => element.dataset.forBase))];
  const baseList = make("select", {}, ...bases.map((label) => make("option", { value: label }, label)));
  const against = () => {
    baseList.value = bases.includes(view.get("base")) ? view.get("base") : bases[0];
    views.forEach((element) => { element.hidden = element.dataset.forBase !== baseList.value; });
  };
  if (bases.length > 1) {
    baseList.addEventListener("change", () => {
      view.set("base", baseList.value === bases[0] ? null : baseList.value);
      against();
    });
    document.querySelector(".comparison[data-for-base]").before(make("label", { className: "base note" }, "base ", baseList));
    against();
  }

  // Charts: views, pictures, figures

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.title = figure.querySelector("figcaption").firstChild.textContent.trim();
      this.forms = [...figure.querySelectorAll(":scope > [data-view]")];
      const tools = make("span", { className: "tools" });
      if (this.forms.length > 1) this.switches(tools);
      tools.append(
        ...(this.rows().length > 1 ? copies(() => this.rows()) : []),
        button("SVG", "Download the chart as SVG", () => this.save()),
        button("PNG", "Download the chart as PNG", () => this.paint()),
        link(figure.id));
      figure.querySelector("figcaption").append(tools);
    }

    switches(tools) {
      this.key = `${this.figure.id}.view`;
      this.buttons = this.forms.map((form) => button(form.dataset.view, `Show the ${form.dataset.view} view`,
        () => this.show(form.dataset.view)));
      tools.append(...this.buttons);
      this.show(view.get(this.key) || this.forms[0].dataset.view, true);
    }

    show(name, isFirst) {
      const form = this.forms.find((one) => one.dataset.view === name) || this.forms[0];
      this.forms.forEach((one) => { one.hidden = one !== form; });
      this.buttons.forEach((one, index) => one.setAttribute("aria-pressed", this.forms[index] === form));
      if (!isFirst) view.set(this.key, form === this.forms[0] ? null : name);
    }

    svg() {
      const form = this.forms.find((one) => !one.hidden) || this.figure;
      return form.querySelector("svg.chart");
    }

    rows() {
      const rows = [...this.svg().querySelectorAll("[data-arm] > title")].filter((title) => title.textContent.includes(": ")).map((title) => {
        const end = title.textContent.lastIndexOf(": ");
        return [title.textContent.slice(0, end), title.textContent.slice(end + 2)];
      });
      return [["point", this.svg().getAttribute("aria-label")], ...rows];
    }

    // With its colours as they are now, for nothing of the page's style goes with it.
    alone() {
      const source = this.svg();
      const clone = source.cloneNode(true);
      const pairs = [...clone.querySelectorAll("*")].map((element, index) => [element, source.querySelectorAll("*")[index]]);
      for (const [element, original] of pairs) {
        const style = getComputedStyle(original);
        for (const name of ["fill", "stroke", "stroke-opacity", "stroke-width", "paint-order", "font-weight", "color"]) {
          const value = style.getPropertyValue(name);
          if (value && value !== "none" || element.hasAttribute(name)) element.setAttribute(name, value);
        }
        if (style.fill === "none") element.setAttribute("fill", "none");
        element.removeAttribute("class");
      }
      const [, , width, height] = source.getAttribute("viewBox").split(" ").map(Number);
      const box = [-12, -32, width + 24, height + 44];
      const colours = getComputedStyle(document.documentElement);
      const paper = `<rect x="${box[0]}" y="${box[1]}" width="${box[2]}" height="${box[3]}"`
        + ` fill="${colours.getPropertyValue("--paper").trim()}"/>`;
      const title = `<text x="0" y="-14" font-weight="600" fill="${colours.getPropertyValue("--ink").trim()}"></text>`;
      clone.insertAdjacentHTML("afterbegin", paper + title);
      clone.querySelector("text").textContent = source.getAttribute("aria-label");
      const said = { xmlns: "http://www.w3.org/2000/svg", viewBox: box.join(" "), width: box[2], height: box[3],
        "font-size": "12", "font-family": getComputedStyle(source).fontFamily };
      Object.entries(said).forEach(([name, value]) => clone.setAttribute(name, value));
      return [new XMLSerializer().serializeToString(clone), box[2], box[3]];
    }

    save() {
      const [text] = this.alone();
      download(`${slug(this.title)}.svg`, `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`);
    }

    async paint() {
      download(`${slug(this.title)}.png`, await this.png());
    }

    async png() {
      const [text, width, height] = this.alone();
      const image = new Image();
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
      await image.decode();
      const canvas = make("canvas", { width: width * SCALE, height: height * SCALE });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return canvas.toDataURL("image/png");
    }
  }

  // Tables: sort, filter, columns

  // One cell may stand for several columns.
  const at = (row, index) => {
    let column = 0;
    for (const cell of row.cells) {
      column += Number(cell.dataset.span || cell.colSpan);
      if (index < column) return cell;
    }
    return null;
  };

  const figure = (cell) => {
    const value = cell.dataset.v ?? cell.dataset.figure;
    if (value !== undefined) return Number(value);
    const match = /^(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*(\w+)?/.exec(cell.textContent.trim());
    return match ? Number(match[1].replaceAll(",", "")) * (UNITS[match[2]] || 1) : NaN;
  };

  const compare = (one, other) => {
    const [left, right] = [figure(one), figure(other)];
    if (!Number.isNaN(left) && !Number.isNaN(right)) return left - right;
    return Number.isNaN(left) - Number.isNaN(right)
      || one.textContent.localeCompare(other.textContent, undefined, { numeric: true });
  };

  const ids = new Map();
  class Arranged {
    constructor(table) {
      this.table = table;
      this.body = table.tBodies[0];
      this.rows = [...this.body.rows];
      this.heads = [...table.tHead.rows[0].cells];
      this.names = this.heads.map((head) => (head.firstChild ? head.firstChild.textContent.trim() : ""));
      this.filters = new Map();
      this.hidden = new Set();
      this.count = make("span", { className: "count", role: "status" });
      this.id = this.name();
      this.light();
      if (this.rows.length >= FEW) this.heads.forEach((head, index) => this.sortable(head, index));
      this.controls();
      this.restore();
    }

    name() {
      const section = this.table.closest("[id]");
      const base = section ? section.id : "table";
      ids.set(base, (ids.get(base) || 0) + 1);
      return ids.get(base) > 1 ? `${base}-${ids.get(base)}` : base;
    }

    light() {
      const columns = this.heads.map((head) => (arms.has(head.textContent.trim()) ? head.textContent.trim() : ""));
      columns.forEach((arm, index) => { if (arm) this.heads[index].dataset.arm = arm; });
      for (const row of this.rows) {
        [...row.cells].forEach((cell, index) => {
          if (columns[index]) cell.dataset.arm = columns[index];
          else if (arms.has(cell.textContent)) cell.dataset.arm = cell.textContent;
        });
      }
    }

    restore() {
      const sort = /^(\d+)([ad])$/.exec(view.get(`${this.id}.sort`) || "");
      if (sort && this.heads[sort[1]]) this.order(Number(sort[1]), sort[2] === "a" ? "ascending" : "descending");
      this.table.parentElement.previousElementSibling?.querySelectorAll("select").forEach((list) => {
        const value = view.get(`${this.id}.${list.dataset.key}`);
        if (value !== null && [...list.options].some((option) => option.value === value)) {
          list.value = value;
          list.dispatchEvent(new Event("change"));
        }
      });
    }

    sortable(head, index) {
      const element = make("button", { type: "button", className: "sort" });
      element.append(...head.childNodes);
      element.addEventListener("click", () => this.sort(index));
      head.append(element);
    }

    sort(index) {
      const before = this.heads[index].getAttribute("aria-sort");
      const first = this.heads[index].classList.contains("number") ? "descending" : "ascending";
      const second = first === "descending" ? "ascending" : "descending";
      const now = before === null ? first : before === first ? second : null;
      this.order(index, now);
      view.set(`${this.id}.sort`, now && `${index}${now[0]}`);
    }

    order(index, now) {
      this.heads.forEach((head) => head.removeAttribute("aria-sort"));
      const ordered = [...this.rows];
      if (now !== null) {
        this.heads[index].setAttribute("aria-sort", now);
        const sign = now === "ascending" ? 1 : -1;
        const lacks = (row) => (this.heads[index].classList.contains("number") ? Number.isNaN(figure(at(row, index))) : 0);
        ordered.sort((one, other) => lacks(one) - lacks(other) || sign * compare(at(one, index), at(other, index)));
      }
      this.table.classList.toggle("moved", now !== null || this.filters.size > 0);
      this.body.append(...ordered);
    }

    controls() {
      const bar = make("div", { className: "bar" });
      if (this.rows.length >= FEW) {
        const box = make("details", { className: "controls" }, make("summary", {}, "Filter, columns"));
        this.heads.forEach((head, index) => {
          if (!head.classList.contains("number")) this.filter(box, index);
        });
        if (this.heads.length > 2) this.columns(box);
        bar.append(box);
      }
      bar.append(this.count, make("span", { className: "tools" }, ...copies(() => this.texts(), () => this.parts()),
        ...(this.table.closest(".comparison") ? query() : []), link(this.id)));
      this.table.parentElement.before(bar);
    }

    shown() {
      const columns = this.heads.map((_, index) => index).filter((index) => !this.hidden.has(index));
      return [columns, [...this.body.rows].filter((row) => !row.hidden)];
    }

    texts() {
      const [columns, rows] = this.shown();
      return [columns.map((index) => this.names[index]),
        ...rows.map((row) => columns.map((index) => at(row, index).textContent.trim()))];
    }

    // One figure a column, with all its digits: what stands beside a ratio, the ratio, its ends, its verdict.
    parts() {
      const [columns, rows] = this.shown();
      const lists = columns.flatMap((index) => {
        const [name, cells] = [this.names[index], rows.map((row) => at(row, index))];
        const texts = cells.map((cell) => cell.textContent.trim());
        const figures = cells.map((cell, row) => cell.dataset.figure ?? (cell.dataset.v ? "" : texts[row]));
        if (!this.heads[index].classList.contains("number")) {
          // names stay texts, and durations, whose number would not say its unit
          const isText = ["step", "arm", "base"].includes(name) || texts.some((text) => /\d\s*(ms|[smhd])$/.test(text));
          const isTyped = !isText && cells.every((cell, row) => cell.dataset.figure || texts[row] === "-" || !Number.isNaN(Number(texts[row])));
          return [[name, ...(isTyped ? figures : texts)]];
        }
        if (cells.every((cell) => !cell.dataset.v)) return [[name, ...figures]];
        const hasFigures = cells.some((cell) => cell.dataset.figure);
        const ratios = cells.map((cell, row) => cell.dataset.v ?? (hasFigures ? "" : texts[row]));
        const ends = (end) => cells.map((cell) => (cell.dataset.ends || "").split(" ")[end] || "");
        const words = cells.map((cell) => (cell.dataset.v
          ? cell.className.replace("number", "").trim().replaceAll("-", " ") : ""));
        return [...(hasFigures ? [[name, ...figures]] : []), [`${name} ratio`, ...ratios],
          [`${name} low`, ...ends(0)], [`${name} high`, ...ends(1)], [`${name} verdict`, ...words]];
      });
      return lists[0].map((_, row) => lists.map((list) => list[row]));
    }

    filter(box, index) {
      const labels = [...new Set(this.rows.map((row) => at(row, index).textContent))];
      if (labels.length < 2 || labels.length > LABELS) return;
      const list = make("select", {}, make("option", { value: "" }, "all"));
      list.dataset.key = `f${index}`;
      list.append(...labels.map((label) => make("option", { value: `=${label}` }, label)));
      list.addEventListener("change", () => {
        if (list.value) this.filters.set(index, list.value.slice(1));
        else this.filters.delete(index);
        this.show();
        view.set(`${this.id}.f${index}`, list.value);
      });
      box.append(make("label", {}, `${this.names[index]} `, list));
    }

    show() {
      const fits = (row) => [...this.filters].every(([index, label]) => at(row, index).textContent === label);
      this.rows.forEach((row) => { row.hidden = !fits(row); });
      const shown = this.rows.filter((row) => !row.hidden).length;
      this.count.textContent = this.filters.size ? `${shown} of ${this.rows.length} rows` : "";
      this.table.classList.toggle("moved", this.filters.size > 0);
    }

    columns(box) {
      const choice = make("fieldset", {}, make("legend", {}, "columns"));
      this.heads.forEach((head, index) => {
        if (!head.classList.contains("number")) return;
        const tick = make("input", { type: "checkbox", checked: true });
        tick.addEventListener("change", () => this.column(index, tick.checked));
        choice.append(make("label", {}, tick, ` ${this.names[index]}`));
      });
      box.append(choice);
    }

    column(index, isShown) {
      if (isShown) this.hidden.delete(index);
      else this.hidden.add(index);
      this.heads[index].hidden = !isShown;
      for (const row of this.rows) {
        const cell = at(row, index);
        if (cell.colSpan > 1 || cell.dataset.span) {
          cell.dataset.span = cell.dataset.span || cell.colSpan;
          cell.colSpan = Math.max(1, Number(cell.dataset.span) - this.hidden.size);
        } else cell.hidden = !isShown;
      }
    }
  }

  // An arm in all charts and tables: hover lights it, a tap or click keeps it lit

  const arms = new Set([...document.querySelectorAll("[data-arm]")].map((element) => element.dataset.arm));
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [sheet];
  let chosen = null;
  const light = (arm) => {
    const name = arm === null ? "" : `[data-arm="${CSS.escape(arm)}"]`;
    sheet.replaceSync(arm === null || arm === "" ? "" : `svg [data-arm]:not(${name}) { opacity: .18; }
      td${name}, th${name} { background: var(--lit); }`);
  };
  const armAt = (event) => event.target.closest?.("[data-arm]")?.dataset.arm ?? null;
  document.addEventListener("pointerover", (event) => light(armAt(event) ?? chosen));
  document.addEventListener("click", (event) => {
    const arm = armAt(event);
    if (arm === null && event.target.closest("button, summary, a, select, input, label")) return;
    chosen = arm === chosen ? null : arm;
    light(chosen);
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") light(chosen = null); });

  // The first chart and table at once; of a thousand others those that are looked at
  const build = (element) => (element.tagName === "TABLE" ? new Arranged(element) : new Chart(element));
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      build(target);
    }
  }, { rootMargin: "400px" });
  for (const [selector, first] of [["figure.picture", "#answer figure.picture"], ["table", "#against-1 > .scroll > table"]]) {
    const now = document.querySelector(first);
    document.querySelectorAll(selector).forEach((element) => {
      if (element.tagName === "TABLE" && !element.tHead) return;
      if (element === now) build(element);
      else seen.observe(element);
    });
  }

  const unfold = () => {
    const place = location.hash.includes("=") ? view.get("at") : decodeURIComponent(location.hash.slice(1));
    const target = place && document.getElementById(place);
    for (let element = target; element; element = element.parentElement) {
      if (element.tagName === "DETAILS") element.open = true;
    }
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", () => {
    if (location.hash.includes("=")) view.entries = new URLSearchParams(location.hash.slice(1));
    against();
    unfold();
  });
  if (location.hash) unfold();
})();
