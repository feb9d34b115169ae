(() => {
  const isVisible = (element) => element.checkVisibility() && element.getBoundingClientRect().width > 0;
  const charts = [...document.querySelectorAll("svg")].filter(isVisible);
  const first = charts[0];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0, before = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent.closest("svg, script, style, .tools, .skip, option") || !isVisible(parent)) continue;
    const count = node.textContent.split(/\s+/).filter(Boolean).length;
    words += count;
    if (first && first.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING) before += count;
  }
  const visible = (selector) => [...document.querySelectorAll(selector)].filter(isVisible).length;
  return {
    "screens before the first chart": first ? (first.getBoundingClientRect().top + scrollY) / innerHeight : 99,
    "first chart ends in": first ? innerHeight - first.getBoundingClientRect().top - scrollY : 0,
    "words before it": before,
    words,
    tables: visible("table"),
    notes: visible(".note"),
    charts: charts.length,
    screens: document.documentElement.scrollHeight / innerHeight,
    "width": document.documentElement.scrollWidth,
  };
})()
