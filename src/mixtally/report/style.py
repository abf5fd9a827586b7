"""The look of the page, for light and dark screens, for print and for a phone.

On a phone a chart keeps a size at which it can be read, and is moved sideways under its words.
"""

STYLE = """
:root{--ink:#1c2330;--soft:#5d6878;--line:#dfe3ea;--paper:#fff;--panel:#f6f7fa;--bar:#b9cdea;
--own:#1f5fb4;--truth:#c2410c;--bad:#b91c1c}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ef;--soft:#9aa5b5;--line:#313a48;
--paper:#12161d;--panel:#1b212b;--bar:#2f4a70;--own:#7fb2f5;--truth:#fb923c;--bad:#f87171}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,
"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:980px;margin:0 auto;padding:2.5rem 1.5rem 4rem}
h1{font-size:1.8rem;line-height:1.2;margin:0 0 .3rem}
h2{font-size:1.15rem;margin:2.6rem 0 .8rem;padding-top:1rem;border-top:1px solid var(--line)}
.source,.note,footer{color:var(--soft);font-size:.9rem}
.promise{list-style:none;margin:.8rem 0;padding:.5rem .9rem;border-left:4px solid var(--own)}
.raw{margin:0 0 1.2rem;padding:.5rem .9rem;border-left:4px solid var(--bad);font-weight:600}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(135px,1fr));gap:.7rem;
margin:1.4rem 0 0}
.figures div{background:var(--panel);border-radius:8px;padding:.7rem .9rem}
dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-size:1.25rem;font-weight:600;
font-variant-numeric:tabular-nums}
svg{width:100%;height:auto;display:block;font-size:12px}
svg text{fill:var(--ink)}svg .axis,svg .tick{fill:var(--soft)}svg .tick{text-anchor:middle;
font-size:11px}svg .label{text-anchor:end}svg .value{font-variant-numeric:tabular-nums}
.grid{stroke:var(--line)}.zero{stroke:var(--truth);stroke-width:1.5}
.bar{fill:var(--bar)}.whisker{stroke:var(--own);stroke-width:2.5}.missed{stroke:var(--bad)}
.point{fill:var(--soft)}.own,.whisker+.point{fill:var(--own)}.truth{fill:none;stroke:var(--truth);
stroke-width:2}.stem{stroke:var(--soft);stroke-width:3}.stem.own{stroke:var(--own)}
.bound{stroke:var(--soft);stroke-width:2}.central{stroke:var(--soft);stroke-dasharray:3 4}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .9rem .25rem 0;border-bottom:1px solid var(--line);text-align:left;
vertical-align:top}.number{text-align:right}.plan th{font-weight:400;color:var(--soft);
white-space:nowrap}.wide{font-size:.8rem}.wide th{color:var(--soft);font-weight:400}
main.wide{max-width:1120px;font-size:1rem}.wide .number{white-space:nowrap}
h3{font-size:1rem;margin:1.6rem 0 .5rem}
.good{color:var(--own)}.bad{color:var(--bad)}.doubtful{color:var(--truth)}.soft{color:var(--soft)}
span.good,span.bad,span.doubtful,span.soft{font-weight:600;white-space:nowrap}
.curve{fill:none;stroke-width:2}.c0{stroke:var(--own)}.c1{stroke:var(--truth)}
.c2{stroke:var(--soft)}.c3{stroke:var(--bad);stroke-dasharray:6 4}
.dot{stroke:none}.dot.c0{fill:var(--own)}.dot.c1{fill:var(--truth)}.dot.c2{fill:var(--soft)}
.dot.c3{fill:var(--bad)}svg .mark{fill:var(--truth);font-size:11px}svg .label.axis{font-size:11px}
.share0{fill:var(--line)}.share1{fill:var(--bar)}.ends0{stroke:var(--soft);stroke-width:2.5}
.ends1{stroke:var(--own);stroke-width:2.5}.dot0{fill:var(--soft)}.dot1{fill:var(--own)}
.line{fill:none;stroke:var(--own);stroke-width:1.2}.frame{fill:none;stroke:var(--line)}
svg .name{font-weight:600}svg .end{text-anchor:end}
.ends0.missed,.ends1.missed{stroke:var(--bad)}
.scroll{overflow-x:auto}summary{cursor:pointer;margin-bottom:.8rem}li{margin:.3rem 0}
footer{margin-top:3rem;overflow-wrap:anywhere}
@media (max-width:700px){main{padding:1.5rem 1rem 3rem}section{overflow-x:auto}
section svg{min-width:660px}section>:not(svg){position:sticky;left:0}}
@media print{details{display:none}}
"""
