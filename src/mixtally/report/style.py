"""The CSS of charts and pages, for light and dark screens, print and phones.

``CHART`` is the CSS of a picture in a file of its own, and ``STYLE`` is the CSS of a page. Letters
have at least 12 pixels. Meaningful marks have a contrast of at least 3 with the background, and
letters of at least 4.5. Grid lines may have less.
"""

import re
from itertools import count

from mixtally.report.axes import swatch
from mixtally.report.document import Picture
from mixtally.report.svg import Markup, el

_ALONE, _GROWN = 640, 430
"""Pixels: the width of a picture in its own file, and of one whose letters grow with the width."""

CHART = """
:root{--ink:#1c2330;--soft:#5d6878;--line:#dfe3ea;--paper:#fff;--panel:#f6f7fa;--bar:#b9cdea;
--edge:#6d8fc0;--own:#1f5fb4;--truth:#c2410c;--bad:#b91c1c}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e6e9ef;--soft:#9aa5b5;--line:#313a48;
--paper:#12161d;--panel:#1b212b;--bar:#2f4a70;--edge:#5b82ba;--own:#7fb2f5;--truth:#fb923c;
--bad:#f87171}}
svg{display:block;font-size:12px}
svg text{fill:var(--ink)}svg .axis,svg .tick{fill:var(--soft)}svg .tick{text-anchor:middle}
svg .first{text-anchor:start}svg .value,svg .last,svg .end{text-anchor:end}
svg .value{font-variant-numeric:tabular-nums}
svg .name{font-weight:600}svg .mark{fill:var(--truth)}
.grid{stroke:var(--line)}.frame{fill:none;stroke:var(--line)}
.zero{stroke:var(--truth);stroke-width:1.5}
.bar,.share1{fill:var(--bar);stroke:var(--edge)}.share0{fill:var(--line);stroke:var(--soft)}
.whisker,.ends0,.ends1{stroke:var(--own);stroke-width:2.5}.ends0{stroke:var(--soft)}
.whisker.missed,.ends0.missed,.ends1.missed{stroke:var(--bad)}
.point,.dot0{fill:var(--soft)}.point.own,.whisker+.point,.dot1{fill:var(--own)}
.truth{fill:none;stroke:var(--truth);stroke-width:2}
.stem{stroke:var(--soft);stroke-width:3}.stem.own{stroke:var(--own)}
.bound{stroke:var(--soft);stroke-width:2}.central{stroke:var(--soft);stroke-dasharray:3 4}
.line{fill:none;stroke:var(--own);stroke-width:1.2}
.curve{fill:none;stroke-width:2}.c0{stroke:var(--own)}.c1{stroke:var(--truth)}
.c2{stroke:var(--soft)}.c3{stroke:var(--bad);stroke-dasharray:6 4}
.dot{stroke:none}.dot.c0{fill:var(--own)}.dot.c1{fill:var(--truth)}.dot.c2{fill:var(--soft)}
.dot.c3{fill:var(--bad)}
"""


def _list_style(kind: str) -> str:
    """Return the CSS that shows tables with the selector ``kind`` as lists.

    In a list, the name of the column is in front of each cell.
    """
    return f"""
{kind},{kind} tbody,{kind} tr,{kind} th{{display:block}}{kind} thead{{display:none}}
{kind} tr{{padding:.5rem 0;border-bottom:1px solid var(--line)}}
{kind} tbody th{{font-weight:600;color:var(--ink)}}{kind} th,{kind} td{{border:0;padding:.1rem 0}}
{kind} td,{kind} td.number{{display:flex;justify-content:space-between;gap:1rem;
text-align:right;white-space:normal}}
{kind} td::before{{content:attr(data-name);color:var(--soft);text-align:left}}
{kind} td:has(>span:empty){{display:none}}"""


STYLE = (
    CHART
    + """
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,
"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
main{max-width:980px;margin:0 auto;padding:2.5rem 1.5rem 4rem}
h1{font-size:1.8rem;line-height:1.2;margin:0 0 .3rem}
h2{font-size:1.15rem;margin:2.6rem 0 .8rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.6rem 0 .5rem}li{margin:.3rem 0}
a{color:var(--own)}.source,.note,footer{color:var(--soft);font-size:.9rem}
.promise{list-style:none;margin:.8rem 0;padding:.5rem .9rem;border-left:4px solid var(--own)}
.raw{margin:0 0 1.2rem;padding:.5rem .9rem;border-left:4px solid var(--bad);font-weight:600}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(135px,1fr));gap:.7rem;
margin:1.4rem 0 0}
.figures div{background:var(--panel);border-radius:8px;padding:.7rem .9rem}
dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-size:1.25rem;font-weight:600;
font-variant-numeric:tabular-nums}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums;
overflow-wrap:normal}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.25rem .9rem .25rem 0;border-bottom:1px solid var(--line);text-align:left;
vertical-align:top}tbody th{font-weight:400;min-width:6rem}
.number{text-align:right}td.number{white-space:nowrap}
.plan{overflow-wrap:anywhere}.plan th{color:var(--soft)}
.wide{font-size:.8rem}.wide th{color:var(--soft);font-weight:400}
main.broad{max-width:1120px;font-size:1rem}
.good{color:var(--own)}.bad{color:var(--bad)}.doubtful{color:var(--truth)}.soft{color:var(--soft)}
span.good,span.bad,span.doubtful,span.soft{font-weight:600;white-space:nowrap}
summary{cursor:pointer;margin-bottom:.8rem}footer{margin-top:3rem}code{font-size:.85rem}
.unseen{position:absolute;width:1px;height:1px;padding:0;overflow:hidden;clip-path:inset(50%);
white-space:nowrap}
figure{margin:0}.chart svg:not(svg svg){width:100%;overflow:visible}
.chart svg[viewBox]{height:auto;max-width:560px}
.chart.broad{display:none}
@media (min-width:700px){.chart.broad{display:block}.chart.narrow{display:none}}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(306px,1fr));gap:.4rem 1rem}
.key{list-style:none;display:flex;flex-wrap:wrap;gap:.1rem 1.4rem;margin:.6rem 0;padding:0;
font-size:.85rem}.key li{display:flex;gap:.5rem;align-items:center}
.band{fill:var(--bar);fill-opacity:.5;stroke:var(--edge);stroke-width:.7}
.key svg{width:26px;height:14px;flex:none}
@media (max-width:700px){main{padding:1.5rem 1rem 3rem}}
"""
    + f"@media screen and (max-width:700px){{{_list_style('.rows')}}}\n"
    + f"@media screen and (max-width:1119px){{{_list_style('.wide')}}}\n"
    + f"@media screen{{{_list_style('.list')}}}\n"
    + """@media print{main,main.broad{max-width:none;padding:0}table{overflow-wrap:anywhere}
details::details-content{content-visibility:visible;display:block;height:auto}
th,td,td.number,span.good,span.bad,span.doubtful,span.soft{white-space:normal}
th,td{padding-right:.5rem}tbody th{min-width:0}
figure,tr,.figures,.promise{break-inside:avoid}h2,h3,caption,summary{break-after:avoid}}
"""
)


def standalone_picture(picture: Picture) -> Markup:
    """Return a chart with its legend as a file of its own, without the style of a page."""
    drawn, width = picture.markup, _ALONE
    if box := re.search(r'viewBox="0 0 (\S+) (\S+)"', drawn):
        width = _GROWN
        height = width * float(box[2]) / float(box[1])
        drawn = Markup(drawn.replace("<svg ", f'<svg width="{width}" height="{height:g}" ', 1))
    elif high := re.search(r'height="(\d+)"', drawn):
        height = float(high[1])
    else:
        raise ValueError("expected a picture with a height")
    legend = [
        el("g", swatch(kind), el("text", text, x=34, y=12), transform=f"translate(0 {place})")
        for (kind, text), place in zip(picture.marks, count(height + 12, 20), strict=False)
    ]
    whole = height + 12 + 20 * len(legend)
    return el(
        "svg",
        el("style", Markup(CHART + "svg{font-family:sans-serif}")),
        el("rect", width="100%", height="100%", fill="var(--paper)"),
        drawn,
        *legend,
        width=width,
        height=whole,
        viewBox=f"0 0 {width} {whole:g}",
        xmlns="http://www.w3.org/2000/svg",
    )
