// Styles a report: light or dark as the reader's system is, colours that differ for colour-blind
// eyes too (after Okabe and Ito), nothing that is loaded from elsewhere.
#pragma once

namespace strato::html {

inline constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #1b1f24; --muted: #59636e; --line: #d8dee4; --page: #ffffff;
  --compute: #0072b2; --update: #7b5ea7; --reshuffle: #8a8f98; --transfer: #d55e00; --collective: #009e73; --bad: #c62828;
  --total: #8a8f98; --less: #0072b2; --more: #c86a00; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ee; --muted: #9aa4b0; --line: #363c44; --page: #16191d;
  --compute: #56b4e9; --update: #b49ae0; --reshuffle: #9aa0a8; --transfer: #f0914a; --collective: #3fc79a; --bad: #ff6b5e;
  --total: #9aa0a8; --less: #56b4e9; --more: #e69f00; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); margin: 2rem auto; max-width: 1180px;
  padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin-top: 2rem; } h3 { font-size: 1rem; margin: 1.2rem 0 0; }
.note, .tick, figcaption { color: var(--muted); }
.bad { color: var(--bad); font-weight: 600; }
.answers { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; margin: 1rem 0; }
.answers b { display: block; font-size: 1.4rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.figure { text-align: right; white-space: nowrap; } td { overflow-wrap: anywhere; }
.bar { display: inline-block; width: 10rem; height: .7rem; background: var(--line); vertical-align: middle; }
.bar i { display: block; height: 100%; background: var(--compute); } .bar i.over { background: var(--bad); }
svg { width: 100%; height: auto; } svg text { fill: var(--text); font: 11px system-ui, sans-serif; }
svg .device, svg .value { text-anchor: end; } svg .tick { fill: var(--muted); text-anchor: middle; } svg .grid { stroke: var(--line); }
.compute { fill: var(--compute); background: var(--compute); } .update { fill: var(--update); background: var(--update); }
.reshuffle { fill: var(--reshuffle); background: var(--reshuffle); } .transfer { fill: var(--transfer); background: var(--transfer); }
.collective { fill: var(--collective); background: var(--collective); }
.total { fill: var(--total); } .less { fill: var(--less); } .more { fill: var(--more); }
tr.best td { font-weight: 600; } small { color: var(--muted); white-space: nowrap; }
.key span { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 1rem; vertical-align: -1px; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
)";

}  // namespace strato::html
