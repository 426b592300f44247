/** The page's one style sheet. Its digest is in the page's policy, so it stands in the page as it is here. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --panel: #f6f8fa; --link: #0550ae;
  --done: #1a7f37; --failed: #c62a2f; --timeout: #9a6700; --died: #8250df; --running: #0969da; --other: #6e7781;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0d1117; --ink: #e6edf3; --soft: #9da7b1; --line: #30363d; --panel: #161b22; --link: #79b8ff;
    --done: #3fb950; --failed: #ff7b72; --timeout: #d8a12a; --died: #c297ff; --running: #6cb6ff; --other: #9da7b1;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; } .skip:focus { position: static; }
.soft { color: var(--soft); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.defs { position: absolute; width: 0; height: 0; }
fieldset { border: 1px solid var(--line); border-radius: .5rem; margin: 1rem 0 0; padding: .25rem .75rem .5rem; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
label { display: inline-flex; align-items: center; gap: .4rem; min-height: 1.75rem; }
.state { font-weight: 600; white-space: nowrap; color: var(--other); }
.done { color: var(--done); } .failed, .unreadable { color: var(--failed); } .timeout { color: var(--timeout); }
.died-without-result { color: var(--died); } .running { color: var(--running); }
.timeline { list-style: none; margin: 0; padding: 0; }
.timeline li, .axis { display: grid; grid-template-columns: minmax(7rem, 16rem) 1fr; gap: .75rem; align-items: center; }
.timeline li:nth-child(even) { background: var(--panel); }
.timeline a, .timeline .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-decoration: none; padding: .1rem .25rem; }
.timeline a { position: relative; }
.timeline a:hover { text-decoration: underline; }
svg { display: block; width: 100%; overflow: visible; }
.bar { fill: currentColor; } .open { fill-opacity: .55; stroke: currentColor; stroke-dasharray: 4 3; }
.silence { fill: url(#hatch); }
.hatch-ground { fill: var(--paper); fill-opacity: .72; } .hatch-line { stroke: currentColor; stroke-opacity: .5; stroke-width: 2; }
.deadline { stroke: var(--ink); stroke-width: 2; stroke-dasharray: 2 2; }
.axis text { fill: var(--soft); font-size: .75rem; } .axis line { stroke: var(--line); }
table { border-collapse: collapse; width: 100%; margin-top: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; font-size: .875rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; }
summary { cursor: pointer; padding: .5rem .75rem; }
details[open] > summary { border-bottom: 1px solid var(--line); }
.inside { padding: .5rem .75rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0 0 .75rem; } dt { color: var(--soft); } dd { margin: 0; }
pre, code { font: .8125rem/1.45 ui-monospace, monospace; }
.log { background: var(--panel); border: 1px solid var(--line); border-radius: .375rem; overflow: auto; max-height: 28rem; }
pre { margin: 0; padding: .6rem .75rem; white-space: pre-wrap; }
@media (max-width: 44rem) {
  body { padding: .75rem; }
  .timeline li, .axis { grid-template-columns: 1fr; gap: 0; }
  .axis .name { display: none; }
  .timeline li { padding: .2rem 0; }
  thead { position: absolute; left: -99rem; }
  table, tbody, tr, td { display: block; }
  tr { border: 1px solid var(--line); border-radius: .5rem; padding: .4rem .6rem; margin: .5rem 0; }
  td { border: 0; padding: .1rem 0; } td:empty { display: none; }
  td[data-name]::before { content: attr(data-name) ": "; color: var(--soft); }
  .number { text-align: left; }
  dl { grid-template-columns: 1fr; } dd { margin: 0 0 .35rem; }
}
@media (forced-colors: active) { .bar, .deadline { forced-color-adjust: none; } }
@media print { .skip, fieldset { display: none; } details::details-content { content-visibility: visible; } }
`;

/** What the boxes of the filter hide, without a script: rows of a state whose box is not ticked. */
export function filterRules(states: readonly string[]): string {
  return states
    .map((state) => `body:has(#show-${state}:not(:checked)) [data-state="${state}"] { display: none; }\n`)
    .join('');
}
