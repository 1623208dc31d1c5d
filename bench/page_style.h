/* The style of the page of results: light and dark, colours that differ in lightness and are never
 * alone in saying something. */
#ifndef QFB_PAGE_STYLE_H
#define QFB_PAGE_STYLE_H

static const char page_style[] =
    ":root{color-scheme:light dark;--ground:#fbfbf9;--card:#ffffff;--ink:#1c2024;--soft:#60656c;"
    "--line:#e3e4e0;--pass:#1f6fb2;--fail:#d98200;--free:#8b949e;--limit:#1c2024;"
    "--target:#b3261e;--rival:#1c2024}"
    "@media(prefers-color-scheme:dark){:root{--ground:#14171a;--card:#1b1f23;--ink:#e6e8ea;"
    "--soft:#9aa1a9;--line:#2d3238;--pass:#5aa9e6;--fail:#f0a93a;--free:#6b747e;--limit:#e6e8ea;"
    "--target:#ff8a80;--rival:#e6e8ea}}"
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--ground);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
    "main{max-width:1080px;margin:0 auto;padding:40px 24px 64px}"
    "h1{font-size:26px;font-weight:650;letter-spacing:-.01em;margin:0 0 4px}"
    "h2{font-size:17px;font-weight:650;margin:0}"
    "p{margin:4px 0 0;color:var(--soft);max-width:72ch}"
    ".tiles{display:flex;flex-wrap:wrap;gap:12px;margin:24px 0 8px}"
    ".tile{background:var(--card);border:1px solid var(--line);border-radius:10px;"
    "padding:12px 18px;min-width:132px}"
    ".tile b{display:block;font-size:24px;font-weight:650;font-variant-numeric:tabular-nums;"
    "line-height:1.25}"
    ".tile span{color:var(--soft);font-size:13px}"
    "details{background:var(--card);border:1px solid var(--line);border-radius:12px;"
    "margin-top:20px;padding:16px 20px}"
    "summary{cursor:pointer;list-style-position:outside}"
    "summary h2{display:inline}"
    "summary span{color:var(--soft);font-size:13px;margin-left:8px}"
    ".scroll{overflow-x:auto}"
    "svg{display:block;width:100%;min-width:860px;height:auto;margin-top:8px}"
    "text{fill:var(--ink);font-size:12px;font-family:inherit}"
    ".name{font-family:ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans Mono',monospace;"
    "font-size:11.5px}"
    ".number{font-variant-numeric:tabular-nums;font-weight:600}"
    ".soft{fill:var(--soft);font-size:11px;font-variant-numeric:tabular-nums}"
    ".end{text-anchor:end}.middle{text-anchor:middle}"
    ".grid{stroke:var(--line);stroke-width:1}"
    ".limit{stroke:var(--limit);stroke-width:1.5}"
    ".track{fill:var(--line);opacity:.55}"
    ".pass{fill:var(--pass)}.fail{fill:var(--fail)}.free{fill:var(--free)}"
    ".range{stroke:var(--ink);stroke-width:1.5;opacity:.7}"
    ".target{fill:var(--target)}.targetline{stroke:var(--target);stroke-width:2}"
    ".rival{fill:var(--card);stroke:var(--rival);stroke-width:1.4}"
    "footer{margin-top:28px;color:var(--soft);font-size:13px}";

#endif
