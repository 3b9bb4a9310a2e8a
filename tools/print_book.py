"""The built book as one PDF, and a picture for previews: `python -m tools.print_book`.

Chromium prints the pages in their order: links between them lead to their place in the
PDF, proofs and solutions are open, and code that is folded on the site is left out.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

from tools.measure_pages import ROOT, serving, start_chromium

PAGE = r"""([page, pages]) => {
  const article = document.querySelector("article");
  const all = (what) => [...article.querySelectorAll(what)];
  all("canvas").forEach((canvas) => {
    const image = document.createElement("img");
    image.src = canvas.toDataURL();
    canvas.replaceWith(image);
  });
  all("details.hide, .headerlink, script, button, .abreast ~ .panel")
    .forEach((e) => e.remove());
  all("details").forEach((e) => { e.open = true; });
  all("img").forEach((e) => { e.loading = "eager"; e.src = e.src; });
  all("a[href]").forEach((link) => {
    const {origin, pathname, hash} = new URL(link.href);
    const name = pathname.replace(/.*\/(\w+)\.html$/, "$1");
    if (origin !== location.origin) { return; }
    if (pages.includes(name)) { link.href = `#${name}--${hash.slice(1)}`; }
    else { link.removeAttribute("href"); }
  });
  all("[id]").forEach((e) => { e.id = `${page}--${e.id}`; });
  all("[style*='url(#'], [clip-path]").forEach((e) => e.removeAttribute("style"));
  return `<section class="leaf" id="${page}--">${article.innerHTML}</section>`;
}"""
BOOK = r"""(leaves) => {
  document.querySelector("article").innerHTML = leaves.join("");
  const list = document.createElement("ul");
  document.querySelectorAll(".leaf").forEach((leaf) => {
    const title = leaf.querySelector("h1").innerHTML;
    list.insertAdjacentHTML("beforeend", `<li><a href="#${leaf.id}">${title}</a></li>`);
  });
  document.querySelector("#print-main-content nav").replaceChildren(list);
  document.querySelectorAll(".leaf a[href^='#']").forEach((link) => {
    const target = decodeURIComponent(link.hash.slice(1));
    if (!document.getElementById(target)) { link.removeAttribute("href"); }
  });
}"""
# Pictures are not needed before all pages are one.
LATER = "**/_images/**"


def pages() -> list[str]:
    """Return the names of the book's pages in their order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [toc["root"]]
    files += [c["file"] for part in toc["parts"] for c in part["chapters"]]
    return [Path(file).name for file in files]


def print_book(browser: Any, address: str, target: Path) -> None:
    """Write the PDF of the site served at an address."""
    leaves, names = [], pages()
    tab = browser.new_page(color_scheme="light")
    tab.route(LATER, lambda route: route.abort())
    for name in names:
        tab.goto(f"{address}/book/{name}.html")
        tab.wait_for_load_state("networkidle")
        leaves.append(tab.evaluate(PAGE, [name, names]))
    tab.unroute(LATER)
    tab.goto(f"{address}/book/{names[0]}.html")
    tab.evaluate(BOOK, leaves)
    tab.wait_for_load_state("networkidle")
    foot = '<span style="font-size:8px;margin:auto" class="pageNumber"></span>'
    tab.pdf(
        path=target,
        format="A4",
        scale=0.85,
        margin={"top": "18mm", "bottom": "18mm", "left": "18mm", "right": "18mm"},
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=foot,
        outline=True,
        tagged=True,
    )
    tab.close()


PREVIEW = """<style>
  body {{ margin: 40px 60px; font: 44px sans-serif; text-align: center; color: #222 }}
  img {{ width: 100%; margin-top: 24px }}
</style>{title}<img src="{address}/_static/overview.svg" alt="">"""


def picture(browser: Any, address: str, target: Path) -> None:
    """Write the picture that previews of links show, at the size they expect."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    tab = browser.new_page(viewport={"width": 1200, "height": 630})
    tab.set_content(PREVIEW.format(title=settings["title"], address=address))
    tab.wait_for_load_state("networkidle")
    tab.screenshot(path=target)
    tab.close()


def main(folder: str = "_build/html") -> None:
    """Write both into the built site."""
    from playwright.sync_api import sync_playwright

    with serving(folder) as address, sync_playwright() as playwright:
        chromium = start_chromium(playwright)
        target = Path(folder, "book.pdf")
        print_book(chromium, address, target)
        picture(chromium, address, Path(folder, "_static", "preview.png"))
        print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")
        chromium.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
