import type { Check, StatusReport } from './status.ts'
import { type Language, WORDS } from './status-words.ts'

const STYLE = `
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--line:#e3e6ea;--text:#17191c;--dim:#5d6570;
--ok:#0a7a43;--off:#6b7280;--down:#c02626}
@media(prefers-color-scheme:dark){:root{--bg:#0e1013;--card:#171a1f;--line:#2a2f37;--text:#eef0f3;
--dim:#9aa3af;--ok:#3fcf8e;--off:#8b94a1;--down:#ff7b72}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);
font:16px/1.6 -apple-system,BlinkMacSystemFont,"Segoe UI","PingFang SC","Microsoft YaHei",
"Noto Sans SC","Noto Sans CJK SC",sans-serif}
:lang(en) body{font-family:-apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,"Noto Sans",
"Open Sans","Liberation Sans","DejaVu Sans","PingFang SC","Noto Sans CJK SC",sans-serif}
main{max-width:42rem;margin:0 auto;padding:3rem 1.25rem}
h1{font-size:1rem;font-weight:600;color:var(--dim);margin:0 0 .5rem}
h1 a{color:inherit}
.overall{font-size:1.75rem;font-weight:650;line-height:1.25;margin:0 0 2rem}
ul{list-style:none;margin:0;padding:0;background:var(--card);border:1px solid var(--line);
border-radius:12px;overflow:hidden}
li{display:flex;gap:.75rem;align-items:baseline;padding:.9rem 1.1rem;flex-wrap:wrap}
li+li{border-top:1px solid var(--line)}
.name{font-weight:550;flex:1 1 8rem}
.why{color:var(--dim);font-size:.875rem}
.state{font-variant-numeric:tabular-nums;font-size:.875rem;font-weight:600}
.state::before{content:"";display:inline-block;width:.55rem;height:.55rem;border-radius:50%;
background:currentColor;margin-right:.45rem}
.ok{color:var(--ok)}.off{color:var(--off)}.degraded,.down{color:var(--down)}
footer{margin-top:1.25rem;color:var(--dim);font-size:.8125rem}
`

const styleHash = new Bun.CryptoHasher('sha256').update(STYLE).digest('base64')

/** The page loads and runs nothing; its one style sheet is allowed by its hash. */
export const STATUS_PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${styleHash}'; img-src 'self'; ` +
  `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The report as a page. All texts are constants of ours, so nothing needs escaping. */
export function statusPage(report: StatusReport, language: Language): string {
  const words = WORDS[language]
  const row = ({ name, state, class: reason, latency_ms }: Check) => {
    const why = words.class[reason] ?? ''
    const time = state === 'ok' ? ` · ${latency_ms} ms` : ''
    return `<li><span class="name">${words.name[name] ?? name}</span>
<span class="why">${why}</span>
<span class="state ${state}">${words.state[state]}${time}</span></li>`
  }
  return `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${words.title} · Moonbase</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1><a href="/">Moonbase</a> · ${words.title}</h1>
<p class="overall ${report.status}" role="status">${words.overall[report.status]}</p>
<ul>
${report.checks.map(row).join('\n')}
</ul>
<footer>${words.footer}</footer>
</main>
</body>
</html>
`
}
