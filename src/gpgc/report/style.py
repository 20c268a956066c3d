"""The looks of the report, light and dark."""

STYLE = """
:root { color-scheme: light dark; --ink: #1d2129; --paper: #fff; --faint: #7a8290;
  --line: #dfe3e8; --card: #f6f7f9; --accent: #0072b2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ec; --paper: #15181d; --faint: #98a1af; --line: #323842;
    --card: #1e2229; --accent: #56b4e9; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.7rem; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .6rem;
  margin: 0; }
dl div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .6rem .8rem; }
dt { color: var(--faint); font-size: .85rem; }
dd { margin: 0; font-size: 1.1rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.note, footer { color: var(--faint); font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--faint); font-weight: 500; font-size: .85rem; }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; color: var(--ink); }
svg text { fill: var(--faint); font-size: 12px; }
.square { max-width: 24rem; }
.map { max-width: 40rem; border: 1px solid var(--line); border-radius: .5rem;
  background: var(--card); }
.dot { display: inline-block; width: .75rem; height: .75rem; margin-right: .5rem; }
.bar { fill: var(--accent); } .line { fill: none; stroke: var(--accent); stroke-width: 2; }
.faint { stroke: var(--faint); }
footer { margin-top: 2.5rem; }
"""
