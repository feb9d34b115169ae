// What a reader may do with the tables: sort, filter by a label, choose columns, take another base. All of it is readable
// without: this adds controls to what the page says, and takes nothing away.
"use strict";
(() => {
  const LABELS = 40; // of an axis: more are no list
  const FEW = 2; // rows that there is nothing to arrange in
  const UNITS = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

  const made = (name, attributes = {}, ...inner) => {
    const found = Object.assign(document.createElement(name), attributes);
    found.append(...inner);
    return found;
  };

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
    const known = cell.dataset.now || cell.dataset.v;
    if (known !== undefined) return Number(known);
    const found = /^(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*(\w+)?/.exec(cell.textContent.trim());
    return found ? Number(found[1].replaceAll(",", "")) * (UNITS[found[2]] || 1) : NaN;
  };

  const compared = (one, other) => {
    const [left, right] = [figure(one), figure(other)];
    if (!Number.isNaN(left) && !Number.isNaN(right)) return left - right;
    return Number.isNaN(left) - Number.isNaN(right)
      || one.textContent.localeCompare(other.textContent, undefined, { numeric: true });
  };

  class Arranged {
    constructor(table) {
      this.table = table;
      this.body = table.tBodies[0];
      this.rows = [...this.body.rows];
      this.heads = [...table.tHead.rows[0].cells];
      this.names = this.heads.map((head) => (head.firstChild ? head.firstChild.textContent.trim() : ""));
      this.filters = new Map();
      this.hidden = new Set();
      this.said = made("span", { className: "count", role: "status" });
      if (this.rows.length >= FEW) {
        this.heads.forEach((head, index) => this.sortable(head, index));
        this.controls();
      }
    }

    sortable(head, index) {
      const button = made("button", { type: "button", className: "sort" });
      button.append(...head.childNodes);
      button.addEventListener("click", () => this.sort(index));
      head.append(button);
    }

    sort(index) {
      const before = this.heads[index].getAttribute("aria-sort");
      const first = this.heads[index].classList.contains("number") ? "descending" : "ascending";
      const second = first === "descending" ? "ascending" : "descending";
      const now = before === null ? first : before === first ? second : null;
      this.heads.forEach((head) => head.removeAttribute("aria-sort"));
      const ordered = [...this.rows];
      if (now !== null) {
        this.heads[index].setAttribute("aria-sort", now);
        const sign = now === "ascending" ? 1 : -1;
        const lacks = (row) => (this.heads[index].classList.contains("number") ? Number.isNaN(figure(at(row, index))) : 0);
        ordered.sort((one, other) => lacks(one) - lacks(other) || sign * compared(at(one, index), at(other, index)));
      }
      this.table.classList.toggle("moved", now !== null || this.filters.size > 0);
      this.body.append(...ordered);
    }

    controls() {
      const box = made("details", { className: "controls" }, made("summary", {}, "Filter, columns"));
      this.heads.forEach((head, index) => {
        if (!head.classList.contains("number")) this.filter(box, index);
      });
      if (this.heads.length > 2) this.columns(box);
      const bar = made("div", { className: "bar" }, box);
      const base = this.table.closest("[data-base]");
      if (base) this.rebase(bar, base.dataset.base);
      bar.append(this.said);
      this.table.parentElement.before(bar);
    }

    filter(box, index) {
      const labels = [...new Set(this.rows.map((row) => at(row, index).textContent))];
      if (labels.length < 2 || labels.length > LABELS) return;
      const list = made("select", {}, made("option", { value: "" }, "all"));
      list.append(...labels.map((label) => made("option", { value: `=${label}` }, label)));
      list.addEventListener("change", () => {
        if (list.value) this.filters.set(index, list.value.slice(1));
        else this.filters.delete(index);
        this.show();
      });
      box.append(made("label", {}, `${this.names[index]} `, list));
    }

    show() {
      const fits = (row) => [...this.filters].every(([index, label]) => at(row, index).textContent === label);
      this.rows.forEach((row) => { row.hidden = !fits(row); });
      const shown = this.rows.filter((row) => !row.hidden).length;
      this.said.textContent = this.filters.size ? `${shown} of ${this.rows.length} rows` : "";
      this.table.classList.toggle("moved", this.filters.size > 0);
    }

    columns(box) {
      const choice = made("fieldset", {}, made("legend", {}, "columns"));
      this.heads.forEach((head, index) => {
        if (!head.classList.contains("number")) return;
        const tick = made("input", { type: "checkbox", checked: true });
        tick.addEventListener("change", () => this.column(index, tick.checked));
        choice.append(made("label", {}, tick, ` ${this.names[index]}`));
      });
      box.append(choice);
    }

    column(index, shown) {
      if (shown) this.hidden.delete(index);
      else this.hidden.add(index);
      this.heads[index].hidden = !shown;
      for (const row of this.rows) {
        const cell = at(row, index);
        if (cell.colSpan > 1 || cell.dataset.span) {
          cell.dataset.span = cell.dataset.span || cell.colSpan;
          cell.colSpan = Math.max(1, Number(cell.dataset.span) - this.hidden.size);
        } else cell.hidden = !shown;
      }
    }

    // The interval of a ratio to another base is not known here: two ratios share the loads of their base.
    rebase(bar, base) {
      const ratios = this.heads.map((_, index) => index)
        .filter((index) => this.rows.some((row) => at(row, index).dataset.v !== undefined));
      const own = this.names.indexOf(`${base} QPS`);
      if (!ratios.length || own < 0) return;
      const list = made("select", {}, made("option", { value: "" }, base));
      list.append(...ratios.map((index) => made("option", { value: String(index) }, this.names[index])));
      const note = made("p", { className: "note", hidden: true });
      list.addEventListener("change", () => {
        this.rows.forEach((row) => this.restore(row));
        note.hidden = !list.value;
        if (!list.value) return;
        note.textContent = `Ratios to ${this.names[list.value]}, from those to ${base}; `
          + `intervals and verdicts are known against ${base} alone.`;
        this.rows.forEach((row) => this.turn(row, Number(list.value), own, ratios));
      });
      bar.append(made("label", {}, "base ", list));
      this.table.parentElement.before(note);
    }

    turn(row, to, own, ratios) {
      const of = Number(at(row, to).dataset.v);
      for (const index of ratios) {
        const cell = at(row, index);
        if (cell.dataset.v === undefined) continue;
        const found = Number(cell.dataset.v) / of;
        this.put(cell, index === to ? "base" : Number.isNaN(found) ? "-" : `${found.toFixed(2)}×`, found);
      }
      const cell = at(row, own);
      if (!Number.isNaN(of)) this.put(cell, `${cell.textContent} (${(1 / of).toFixed(2)}×)`, 1 / of);
    }

    put(cell, text, value) {
      cell.dataset.text = cell.textContent;
      cell.dataset.kind = cell.className;
      cell.dataset.now = value;
      cell.textContent = text;
      cell.className = "number";
    }

    restore(row) {
      for (const cell of row.cells) {
        if (cell.dataset.text === undefined) continue;
        cell.textContent = cell.dataset.text;
        cell.className = cell.dataset.kind;
        for (const name of ["text", "kind", "now"]) delete cell.dataset[name];
      }
    }
  }

  // Of a thousand tables those that are looked at.
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      new Arranged(target);
    }
  }, { rootMargin: "400px" });
  document.querySelectorAll("table").forEach((table) => { if (table.tHead) seen.observe(table); });

  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  if (location.hash) unfold();
})();
