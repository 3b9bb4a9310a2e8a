// What a reader would find wrong on a page of the site: `probes`, for `test_site.py`.
window.probes = (() => {
  const box = (e) => e.getBoundingClientRect();
  const seen = (e) => e.checkVisibility() && box(e).width > 0;
  const reached = (e) => e.checkVisibility({visibilityProperty: true});
  const wide = (e) => e.scrollWidth > e.clientWidth + 1;
  const name = (e) => e.id || e.closest("[id]").id;
  const article = () => document.querySelector("article");
  const all = (what) => [...article().querySelectorAll(what)];
  const frame = () => new Promise(requestAnimationFrame);
  const wait = (time) => new Promise((done) => setTimeout(done, time));
  const STOPS = "a[href], button, input, select, textarea, summary, [tabindex]";

  // How much of the page has been moved by what came later, without the reader.
  let shift = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
    shift += entry.hadRecentInput ? 0 : entry.value;
  })).observe({type: "layout-shift", buffered: true});

  // Each screen stays for two frames, so that what comes into view is loaded and drawn.
  async function scroll() {
    const {documentElement: page} = document;
    for (let y = 0; y < page.scrollHeight; y += innerHeight) {
      scrollTo({top: y, behavior: "instant"});
      await frame();
      await frame();
    }
    scrollTo(0, 0);
    return shift;
  }

  // What the page shows that belongs to its source, or that could not be shown.
  function broken() {
    const raw = /\{[\w:-]+\}`|:::|\(eq-|\[\?\]/;
    return {
      "images that did not come": [...document.images]
        .filter((i) => i.complete && !i.naturalWidth).map((i) => i.src),
      "formulas that are not set": all("div.math:not(:has(> math)), merror").map(name),
      "marks of an error": all(".problematic, .system-message").map((e) => e.outerHTML),
      "markup in the text": all("p, li, td, figcaption").map((e) => e.innerText)
        .filter((text) => raw.test(text)),
      "names of folds": all("summary").filter((e) => e.hasAttribute("aria-label")
        || !e.textContent.trim()).map((e) => e.outerHTML),
      "frames that are alike": all(".attnsel-frames").filter((e) => {
        const frames = [...e.querySelectorAll(".frame")].map((f) => f.innerHTML);
        return frames.length < 2 || new Set(frames).size < frames.length;
      }).map(name),
    };
  }

  // A figure or table is cut if it goes beyond what scrolls or hides around it.
  function room(e) {
    for (let p = e.parentElement; p && p !== article(); p = p.parentElement) {
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(p).overflowX)) { return p; }
    }
    return article();
  }
  const right = (e) => Math.max(box(e).right,
    e.matches("table") ? box(e).left + e.scrollWidth : 0);
  const cut = (e) => right(e) > Math.min(box(room(e)).right, innerWidth) + 1;
  // What is wide may scroll if one sees it and the keyboard gets there.
  const scrolls = (e) => e.matches(".more[tabindex='0']");
  const stays = (e) => [...e.rows].every((row) => !row.cells[0]
    || getComputedStyle(row.cells[0]).position === "sticky");
  const figures = () => all(".cell_output :is(img, svg, canvas), figure :is(img, svg)")
    .filter((e) => seen(e) && !e.closest(".panel")).concat(all(".panel").filter(seen));

  function fits() {
    const {documentElement: page} = document;
    return {
      "the page": page.scrollWidth > page.clientWidth ? [page.scrollWidth] : [],
      "figures that are cut": figures().filter(cut).map(name),
      "tables that are cut": all("table").filter((e) => seen(e) && cut(e)
        && !(scrolls(room(e)) && stays(e))).map(name),
      "formulas that are cut": all("math").filter((e) => seen(e) && wide(e)
        && !scrolls(e)).map(name),
      "stops without use": all("[tabindex='0']").filter((e) => seen(e) && !wide(e)
        && e.scrollHeight <= e.clientHeight
        && !e.matches("a, button, input, select, summary, canvas, [role]")).map(name),
    };
  }

  // Closed boxes that hold something of these kinds are open meanwhile.
  async function opened(kinds, look) {
    const boxes = all(`details:not([open]):has(${kinds})`);
    boxes.forEach((e) => { e.open = true; });
    await wait(100);
    await frame();
    const found = look();
    boxes.forEach((e) => { e.open = false; });
    await frame();
    return found;
  }

  // What looks the same with the keyboard on it as without.
  function unseen() {
    const look = (e) => {
      const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(e);
      return [outlineStyle !== "none" && parseFloat(outlineWidth) > 1, boxShadow];
    };
    return [...document.querySelectorAll(STOPS)].filter((e) => {
      if (e.tabIndex < 0 || !reached(e)) { return false; }
      const [, before] = look(e);
      e.focus({focusVisible: true, preventScroll: true});
      const [ring, after] = look(e), focused = document.activeElement === e;
      e.blur();
      return focused && !ring && after === before;
    }).map((e) => e.outerHTML.slice(0, 200));
  }

  // What columns of tables are like: numbers to the right, heads as their columns.
  function columns() {
    const side = (cell) => /right|end/.test(getComputedStyle(cell).textAlign);
    const number = /^[-−]?[\d.,]+[\u2007\u2008 ]*%?$/;
    return all("table:is(.dataframe, [id^=T_])").flatMap((table) => {
      const [head, ...body] = [...table.rows].map((row) => [...row.cells]);
      return head.flatMap((top, k) => {
        const cells = body.map((row) => row[k]).filter((c) => c?.innerText.trim());
        const numbers = cells.length && cells.every((c) => number.test(c.innerText));
        const wrong = top.innerText.trim() && cells.some((c) => side(c) !== side(top))
          || numbers && !cells.every(side)
          || cells.some((c) => /^-?[\d.]+e[-+]?\d+$/.test(c.innerText));
        return wrong ? [`${name(table)}: ${top.innerText}`] : [];
      });
    });
  }

  // The question comes before the first figure, and both before the knobs and the cost.
  function order(isDetail) {
    const top = (e) => e?.checkVisibility() ? box(e).top + scrollY : null;
    const guess = top(article().querySelector(".guess"));
    const figure = top(article().querySelector("figure:has(.attnsel, img)"));
    const knobs = top(all("div.highlight").find((e) =>
      e.textContent.startsWith("# settings")));
    const cost = top(all("p").find((e) => /chapter takes about/.test(e.textContent)));
    if (guess === null || knobs === null) { return []; }
    const right = cost === null && guess < 844 && guess < knobs
      && (isDetail || guess < figure && figure < knobs);
    return right ? [] : [{guess, figure, knobs, cost}];
  }

  // What is wrong at one width of the window.
  async function faults(isChapter, isDetail, isOwn) {
    const found = {...fits(),
      "hover titles": all("[title]").filter((e) => !e.closest("a, button, iframe"))
        .map(name),
      "keyboard unseen": unseen(),
      "columns of tables": columns(),
      "order of the opening": isOwn ? [] : order(isDetail)};
    if (innerWidth < 600) {
      const inside = await opened("table, math", fits);
      for (const [what, names] of Object.entries(inside)) {
        found[`in a fold, ${what}`] = what.startsWith("figures") ? [] : names;
      }
      found["bright at night"] = all("img[src*='_images/']").filter((e) =>
        getComputedStyle(e).filter !== "invert(0.93) hue-rotate(180deg)").map(name);
      return found;
    }
    const live = "[class^=attnsel-]:not(.attnsel-claim), figure iframe";
    const first = Math.min(...[...figures(), ...all(live).filter(seen)]
      .map((e) => box(e).top + scrollY));
    return {...found,
      "tables that scroll at a desk": all("table").filter((e) => seen(e) && cut(e))
        .map(name),
      "code that scrolls": await opened("div.highlight", () =>
        all("div.highlight pre").filter((e) => !e.closest(".cell_output")
          && e.checkVisibility() && wide(e)).map((e) => e.textContent.slice(0, 200))),
      "pixels to the first figure": isChapter && !isDetail && first > 1500
        ? [first] : [],
      "pixels of the page": isChapter && box(article()).height > 19_000
        ? [box(article()).height] : []};
  }

  // Whether what moves in or changes its colour still does. In a closed box nothing
  // changes its colour before it opens.
  const moves = () => document.getAnimations().some((change) =>
    change.playState === "running" && change.effect.target.checkVisibility());

  // What the keyboard stops at before the text of a page.
  const stopsAbove = () => [...document.querySelectorAll(STOPS)].filter((e) =>
    e.tabIndex >= 0 && reached(e)
    && article().compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING)
    .map((e) => e.outerHTML);

  // Links of the list of chapters on which something else lies.
  const covered = () => [...document.querySelectorAll(".bd-sidebar-primary a[href]")]
    .filter((e) => {
      if (!reached(e)) { return false; }
      e.scrollIntoView({block: "center", behavior: "instant"});
      const {left, top, width, height} = box(e);
      return !e.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    }).map((e) => e.href);

  // The pictures by Matplotlib that are seen, and how wide they are.
  const drawn = () => all("img[src$='.svg']").filter((image) =>
    image.checkVisibility() && image.closest("figure, .cell_output"))
    .map((image) => [image.src.split("/").pop(), box(image).width]);

  // A picture by Matplotlib has a group for each text. Its letters are drawn a hundred
  // units high; those of exponents and indices are smaller, as they are in print. Also
  // how many points of its curves lie below the texts and marks of a legend.
  function texts(picture) {
    const place = document.createElement("div");
    place.innerHTML = picture.slice(picture.indexOf("<svg"));
    document.body.append(place);
    const svg = place.firstChild, {width} = svg.viewBox.baseVal;
    svg.setAttribute("width", width);
    const within = ({left, right, top, bottom}, x, y) =>
      x > left && x < right && y > top && y < bottom;
    const groups = svg.querySelectorAll("g[id^=text_]:has(path[transform])");
    const found = [...groups].map((text) => {
      const {left, right, top, bottom} = box(text);
      const {a, b} = text.querySelector("path[transform]").parentElement.getScreenCTM();
      return {left, right, top, bottom, size: 100 * Math.hypot(a, b)};
    });
    let count = 0;
    place.querySelectorAll("g[id^=legend_]").forEach((legend) => {
      const marks = [...legend.querySelectorAll("g[id]")];
      const parts = marks.map(box).filter(({width}) => width);
      const axes = legend.parentElement, area = box(axes.querySelector("g[id^=patch]"));
      const lies = (x, y) => within(area, x, y) && parts.some((r) => within(r, x, y));
      const curves = [...axes.children].filter(({id}) => /^(line2d|LineC|PathC)/.test(id));
      curves.flatMap((curve) => [...curve.querySelectorAll("path, use")]).forEach((e) => {
        if (e.closest("defs")) { return; }
        if (e.matches("use")) {
          const {left, right, top, bottom} = box(e);
          count += lies((left + right) / 2, (top + bottom) / 2);
          return;
        }
        if (!e.getAttribute("d")) { return; }  // a line of no points
        const matrix = e.getScreenCTM(), length = e.getTotalLength();
        for (let at = 0; at <= length; at += 2) {
          const {x, y} = e.getPointAtLength(at).matrixTransform(matrix);
          count += lies(x, y);
        }
      });
    });
    place.remove();
    const pairs = found.flatMap((one, i) => found.slice(0, i).map((two) => [
      Math.min(one.right, two.right) - Math.max(one.left, two.left),
      Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top)]));
    return {width, least: Math.min(1000, ...found.map(({size}) => size)),
      overlaps: pairs.filter(([across, up]) => across > 1 && up > 1).length,
      covered: count};
  }

  return {scroll, broken, faults, moves, frame, stopsAbove, covered, drawn, texts};
})();
