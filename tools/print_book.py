"""The built book as one PDF, and a picture for previews.

    python -m tools.print_book [FOLDER [PAGE...]]

Chromium prints the pages in their order, and the list of claims and the package behind
them as an appendix: links between them lead to their place in the PDF, proofs and
solutions are open, and code that is folded on the site is left out. It prints twice:
which page a chapter begins on is known after the first time. With names of pages it
prints these alone, which shows in a moment whether the whole book can be printed.
"""

import re
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
  all("noscript").forEach((e) => { e.outerHTML = e.textContent; });
  all(".attnsel .bar:has(> button), .attnsel > details").forEach((e) => e.remove());
  all(".headerlink, details.hide, .yours, label.solved").forEach((e) => e.remove());
  all("script, template, button, .abreast ~ .panel").forEach((e) => e.remove());
  all(".toctree-wrapper:not(:has(a))").forEach((e) => e.remove());
  all("details").forEach((e) => { e.open = true; });
  all("img, iframe").forEach((e) => { e.loading = "eager"; e.src = e.src; });
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
BOOK = r"""([leaves, appendix]) => {
  document.querySelector("article").innerHTML = leaves.join("");
  const list = document.createElement("ul");
  const add = (line) => list.insertAdjacentHTML("beforeend", `<li>${line}</li>`);
  list.className = "printed";
  document.querySelectorAll(".leaf").forEach((leaf) => {
    if (leaf.id === appendix) { add("<strong>Appendix</strong>"); }
    const title = leaf.querySelector("h1").innerHTML;
    add(`<a href="#${leaf.id}">${title}</a><span></span>`);
  });
  document.querySelector("#print-main-content nav").replaceChildren(list);
  document.querySelectorAll(".leaf a[href^='#']").forEach((link) => {
    const target = decodeURIComponent(link.hash.slice(1));
    if (!document.getElementById(target)) { link.removeAttribute("href"); }
  });
}"""
# Of what is on no page of the site, where its rules would be left out as unused.
STYLE = """
  html .bd-main .bd-article .leaf h1 { display: block !important; }
  .leaf { break-before: page; }
  .printed { padding: 0; list-style: none; font-size: 0.95rem; line-height: 1.45; }
  .printed > li { display: flex; justify-content: space-between; }
"""
NUMBER = r"""(starts) => document.querySelectorAll(".printed a").forEach((link) => {
  link.nextElementSibling.textContent = starts[link.hash.slice(1)];
})"""
# Pictures are not needed before all pages are one.
LATER = "**/_images/**"
# Nothing is trained on paper: a still is printed in its place.
MOVING = "**/{lab,lineup}.js"


def is_appendix(name: str) -> bool:
    """Return whether one looks things up on a page that is not read."""
    return name.startswith(("claims", "package"))


def pages() -> list[str]:
    """Return the names of the book's pages in their order, the appendix at the end."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [toc["root"]]
    files += [c["file"] for part in toc["parts"] for c in part["chapters"]]
    return sorted((Path(file).name for file in files), key=is_appendix)


def starts(pdf: bytes) -> dict[str, int]:
    """Return on which page each named place of Chromium's PDF is."""
    objects = dict(re.findall(rb"^(\d+) 0 obj\n(.*?)\nendobj", pdf, re.M | re.S))
    (root,) = re.findall(rb"/Type /Catalog.*?/Pages (\d+) 0 R", pdf, re.S)
    order: list[bytes] = []

    def follow(number: bytes) -> None:
        below = re.search(rb"/Kids \[(.*?)\]", objects[number], re.S)
        for kid in re.findall(rb"(\d+) 0 R", below[1]) if below else ():
            follow(kid)
        if not below:
            order.append(number)

    follow(root)
    at = {number: i for i, number in enumerate(order, 1)}
    places = re.findall(rb"/([^\s/\[\]<>()]+) \[(\d+) 0 R /XYZ", pdf)
    return {name.decode("ascii"): at[page] for name, page in places}


def print_book(browser: Any, address: str, target: Path, names: list[str]) -> None:
    """Write the PDF of some pages of the site served at an address."""
    leaves = []
    tab = browser.new_page(color_scheme="light")
    for kept_out in (LATER, MOVING):
        tab.route(kept_out, lambda route: route.abort())
    for name in names:
        tab.goto(f"{address}/book/{name}.html")
        leaves.append(tab.evaluate(PAGE, [name, names]))
    tab.unroute(LATER)
    tab.goto(f"{address}/book/{names[0]}.html")
    appendix = next((f"{name}--" for name in names if is_appendix(name)), "")
    tab.evaluate(BOOK, [leaves, appendix])
    tab.add_style_tag(content=STYLE)
    tab.wait_for_load_state("networkidle")
    foot = '<span style="font-size:8px;margin:auto" class="pageNumber"></span>'
    settings = {
        "format": "A4",
        "scale": 0.85,
        "margin": dict.fromkeys(("top", "bottom", "left", "right"), "18mm"),
        "display_header_footer": True,
        "header_template": "<span></span>",
        "footer_template": foot,
    }
    tab.evaluate(NUMBER, starts(tab.pdf(**settings)))
    tab.pdf(path=target, outline=True, tagged=True, **settings)
    tab.close()


PREVIEW = """<style>
  body {{ margin: 34px 60px; font: 600 46px serif; text-align: center; color: #222 }}
  img {{ width: 100%; margin: 18px 0 10px }}
  small {{ font: 30px sans-serif; color: #59626d }}
</style>Which of these learned something?
<img src="{address}/_static/lineup/card.webp" alt=""><small>{title}</small>"""


def picture(browser: Any, address: str, target: Path) -> None:
    """Write the picture that previews of links show, at the size they expect."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    tab = browser.new_page(viewport={"width": 1200, "height": 630})
    tab.set_content(PREVIEW.format(title=settings["title"], address=address))
    tab.wait_for_load_state("networkidle")
    tab.screenshot(path=target)
    tab.close()


def main(folder: str = "_build/html", *names: str) -> None:
    """Write both into the built site, the PDF of all pages or of those named."""
    from playwright.sync_api import sync_playwright

    with serving(folder) as address, sync_playwright() as playwright:
        chromium = start_chromium(playwright)
        target = Path(folder, "book.pdf")
        print_book(chromium, address, target, list(names) or pages())
        picture(chromium, address, Path(folder, "_static", "preview.png"))
        print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")
        chromium.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
