// What is wrong with the page as it is shown: a list of sentences, empty when nothing is.
({ print, smallest }) => {
  const found = [];
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (color) => {
    if (!known.has(color)) known.set(color, painted(color));
    return known.get(color);
  };
  const painted = (color) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = color;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const [r, g, b] = rgba(color).slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (rgba(color)[3] === 255) return color;
    }
    return "white";
  };
  const named = (element) => `${element.tagName}.${element.getAttribute("class") || ""}`;
  const width = document.documentElement.clientWidth;

  if (document.documentElement.scrollWidth > width) found.push("the page itself moves sideways");

  // A chart is drawn twice, for narrow and for broad screens; one of both is shown.
  const drawnTwice = [...document.querySelectorAll(".chart.narrow")].map((narrow) => [
    narrow, narrow.parentElement.querySelector(".chart.broad")
  ]);
  const hidden = new Set();
  for (const both of drawnTwice) {
    const seen = both.filter((one) => one.getBoundingClientRect().width);
    if (seen.length !== 1) found.push(`a chart that is shown ${seen.length} times`);
    else hidden.add(both.find((one) => one !== seen[0]));
  }

  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (words.nextNode()) {
    const node = words.currentNode;
    const holder = node.parentElement;
    if (!node.data.trim() || holder.closest(".unseen, style, title")) continue;
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (!box.width) {
      const elsewhere = hidden.has(holder.closest(".chart"));
      if (print && !elsewhere) found.push(`not printed: ${node.data.slice(0, 40)}`);
      continue;
    }
    const drawn = holder.closest("svg:not(svg svg)");
    const scale = drawn ? Math.abs(holder.getScreenCTM().a) : 1;
    const size = parseFloat(getComputedStyle(holder).fontSize) * scale;
    if (size < (drawn ? smallest : 12) - 0.01)
      found.push(`${size.toFixed(1)} px: ${node.data.slice(0, 40)}`);
    const color = drawn ? getComputedStyle(holder).fill : getComputedStyle(holder).color;
    const stands = contrast(color, behind(holder));
    if (stands < 4.5) found.push(`letters of contrast ${stands.toFixed(1)}: ${named(holder)}`);
    if (drawn) {
      const frame = drawn.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 ||
          box.bottom > frame.bottom + 1)
        found.push(`cut off by its picture: ${node.data.slice(0, 40)}`);
    }
  }

  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest(".unseen")) continue;
    const box = element.getBoundingClientRect();
    if (box.width && box.right > width + 1)
      found.push(`wider than the page: ${named(element)}`);
    const wide = element.scrollWidth > element.clientWidth + 1 && element.clientWidth;
    const flow = getComputedStyle(element).overflowX;
    if (wide && flow === "hidden" && !element.closest("svg"))
      found.push(`cuts off what it holds: ${named(element)}`);
    if (wide && (flow === "auto" || flow === "scroll"))
      found.push(`moves sideways: ${named(element)}`);
  }

  const quiet = ".grid, .frame, .cell:not(.full), [width='100%']";
  for (const mark of document.querySelectorAll("svg :is(rect,line,circle,polyline,polygon)")) {
    if (mark.matches(quiet)) continue;
    const style = getComputedStyle(mark);
    const paper = behind(mark.closest("svg"));
    const inks = mark.tagName === "line" ? [style.stroke] : [style.fill, style.stroke];
    const best = Math.max(...inks.map((ink) => (ink === "none" ? 1 : contrast(ink, paper))));
    if (best < 3) found.push(`a mark of contrast ${best.toFixed(1)}: ${named(mark)}`);
  }

  const shapes = ":is(rect,line,circle,polyline)";
  for (const figure of document.querySelectorAll("figure")) {
    const named = [...figure.querySelectorAll(`.key ${shapes}`)].map((one) => one.classList);
    for (const mark of figure.querySelectorAll(`.chart ${shapes}`)) {
      const kinds = [...mark.classList];
      if (mark.matches(`${quiet}, .full, .dot`)) continue;
      if (!named.some((one) => kinds.every((kind) => one.contains(kind))))
        found.push(`a mark without a legend: ${kinds.join(" ")}`);
    }
  }

  for (const table of document.querySelectorAll("table"))
    if (!table.caption || table.querySelector("th:not([scope])"))
      found.push(`a table without caption or scopes: ${named(table)}`);
  return [...new Set(found)];
}
