import type { Check, CheckState, StatusReport } from './status.ts'

export type Language = 'zh' | 'en'

interface Words {
  readonly title: string
  readonly overall: Readonly<Record<StatusReport['status'], string>>
  readonly state: Readonly<Record<CheckState, string>>
  readonly name: Readonly<Record<string, string>>
  readonly class: Readonly<Record<string, string>>
  readonly footer: string
}

const WORDS: Readonly<Record<Language, Words>> = {
  zh: {
    title: '服务状态',
    overall: { ok: '一切正常', degraded: '部分功能受影响', down: '服务不可用' },
    state: { ok: '正常', off: '未启用', down: '异常' },
    name: {
      database: '数据库',
      backup: '备份',
      llm: '语言模型',
      embedding: '文本向量',
      rerank: '重排',
      tts: '语音合成',
      asr: '语音识别',
      signup: '注册',
      turns: '最近一小时的回答',
    },
    class: {
      ok: '',
      standby: '待命',
      loading: '模型正在装入',
      not_configured: '未配置',
      offline_responder: '未接入语言模型，由内置应答器回复',
      timeout: '响应超时',
      connection_failed: '无法连接',
      unauthorized: '凭证被拒绝',
      http_4xx: '请求被拒绝',
      http_5xx: '上游故障',
      files_missing: '文件不全',
      disk_full: '磁盘空间已满',
      disk_error: '磁盘读写失败',
      backup_failed: '上一次备份失败，原因见日志',
      backup_late: '备份过期',
      open: '任何人都可以注册',
      turns_failing: '半数以上失败',
      error: '检查失败',
    },
    footer: '检查结果不早于 5 秒前，刷新页面即可更新',
  },
  en: {
    title: 'Service status',
    overall: {
      ok: 'All systems work',
      degraded: 'Some features are affected',
      down: 'Unavailable',
    },
    state: { ok: 'OK', off: 'Off', down: 'Down' },
    name: {
      database: 'Database',
      backup: 'Backup',
      llm: 'Language model',
      embedding: 'Embedding',
      rerank: 'Reranking',
      tts: 'Speech synthesis',
      asr: 'Speech recognition',
      signup: 'Sign-up',
      turns: 'Answers of the last hour',
    },
    class: {
      ok: '',
      standby: 'standing by',
      loading: 'the model is being loaded',
      not_configured: 'not configured',
      offline_responder: 'no language model connected; the built-in responder answers',
      timeout: 'no answer in time',
      connection_failed: 'cannot be reached',
      unauthorized: 'credential refused',
      http_4xx: 'request refused',
      http_5xx: 'upstream fault',
      files_missing: 'files are missing',
      disk_full: 'the disk is full',
      disk_error: 'the disk fails to read or write',
      backup_failed: 'the last backup failed; the log says why',
      backup_late: 'no good backup for too long',
      open: 'anybody may sign up',
      turns_failing: 'half of them or more failed',
      error: 'check failed',
    },
    footer: 'checked no more than 5 seconds ago; reload the page to check again',
  },
}

/** The language that an Accept-Language header prefers among ours; Chinese without a header. */
export function languageOf(header: string | null): Language {
  const ranked = (header ?? '')
    .split(',')
    .map((item) => {
      const [tag = '', ...parameters] = item.trim().toLowerCase().split(';')
      const q = parameters.map((text) => /^\s*q=([\d.]+)/.exec(text)?.[1]).find(Boolean)
      return { language: tag.split('-')[0], weight: q === undefined ? 1 : Number(q) }
    })
    .filter(({ language, weight }) => (language === 'zh' || language === 'en') && weight > 0)
    .sort((a, b) => b.weight - a.weight)
  return ranked[0]?.language === 'en' ? 'en' : 'zh'
}

const STYLE = `
:root{color-scheme:light dark;--bg:#faf9f6;--card:#fff;--line:#e7e3db;--text:#1d1c1a;--dim:#55514b;
--ok:#256b42;--off:#6b665f;--down:#a82f26}
@media(prefers-color-scheme:dark){:root{--bg:#0f1217;--card:#161a21;--line:#272e38;--text:#eceae4;
--dim:#b7bac0;--ok:#74c998;--off:#979ea8;--down:#f2938a}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);
font:16px/1.6 -apple-system,BlinkMacSystemFont,"Segoe UI","PingFang SC","Hiragino Sans GB",
"Microsoft YaHei","Noto Sans SC","Noto Sans CJK SC",sans-serif}
:lang(en) body{font-family:-apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,"Noto Sans",
"Open Sans","Liberation Sans","DejaVu Sans","PingFang SC","Noto Sans CJK SC",sans-serif}
main{max-width:42rem;margin:0 auto;padding:3rem 1.25rem}
h1{font-size:1rem;font-weight:600;color:var(--dim);margin:0 0 .5rem}
h1 img{vertical-align:-.3rem}
h1 a{color:inherit;display:inline-block;padding:.7rem 0;margin:-.7rem 0}
.overall{font-size:1.75rem;font-weight:650;line-height:1.25;margin:0 0 2rem}
ul{list-style:none;margin:0;padding:0;background:var(--card);border:1px solid var(--line);
border-radius:12px;overflow:hidden}
li{display:flex;gap:.75rem;align-items:baseline;padding:.9rem 1.1rem;flex-wrap:wrap}
li+li{border-top:1px solid var(--line)}
.name{font-weight:550;flex:1 1 8rem}
.why{color:var(--dim);font-size:.875rem;margin-left:auto}
.state{margin-left:auto;font-variant-numeric:tabular-nums;font-size:.875rem;font-weight:600}
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
    // Nothing was asked for the answers of the hour: they are counted.
    const time = state === 'ok' && name !== 'turns' ? ` · ${latency_ms} ms` : ''
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
<h1><img src="/favicon.svg" alt="" width="22" height="22">
<a href="/">Moonbase</a> · ${words.title}</h1>
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
