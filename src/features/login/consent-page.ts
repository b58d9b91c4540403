/** Where the page finds the style of the console; null when that was not built. */
export interface ConsentHead {
  readonly sheet: string | null
  /** Sets theme and language before the first paint. */
  readonly theme: string | null
}

export interface ConsentShown {
  readonly email: string
  /** Name of the tenant whose key the app gets. */
  readonly tenant: string
  readonly scheme: string
  /** The fields that the form sends back. */
  readonly fields: Readonly<Record<string, string>>
  /** The link of a person who refuses. */
  readonly refusal: string
}

interface Words {
  readonly title: string
  readonly asks: string
  readonly gets: string
  readonly warn: string
  readonly allow: string
  readonly refuse: string
}

/** Elements with these classes are shown in their language only (web/css/surfaces.css). */
const LANGUAGES: readonly (readonly [string, string, (shown: ConsentShown) => Words])[] = [
  [
    'in-zh',
    'zh-CN',
    ({ email, tenant, scheme }) => ({
      title: '允许这个应用使用你的工作空间？',
      asks: `本机上的一个应用（${scheme}://）请求以 ${email} 的身份登录工作空间“${tenant}”。`,
      gets: '它会得到一个通用密钥，可以读取和修改该工作空间的几乎全部内容，直到你在“密钥”页吊销它。',
      warn: '只有当你刚刚在自己的应用里点了登录时才允许。',
      allow: '允许',
      refuse: '拒绝',
    }),
  ],
  [
    'in-en',
    'en',
    ({ email, tenant, scheme }) => ({
      title: 'Let this app use your workspace?',
      asks:
        `An app on this device (${scheme}://) asks to sign in as ${email} ` +
        `to the workspace “${tenant}”.`,
      gets:
        'It gets a general key, which reads and changes almost everything in that workspace ' +
        'until you revoke it on the page Keys.',
      warn: 'Allow it only if you have just chosen to sign in, in an app of yours.',
      allow: 'Allow',
      refuse: 'Refuse',
    }),
  ],
]

/** The page that asks a person before a native app gets a key. It works without scripts. */
export function consentPage(shown: ConsentShown, head: ConsentHead, language: 'zh' | 'en') {
  const said = LANGUAGES.map(([name, lang, wordsOf]) => ({ name, lang, words: wordsOf(shown) }))
  const each = (wrap: (words: Words) => string) =>
    said
      .map(
        ({ name, lang, words }) =>
          `<div class="consent-words ${name}" lang="${lang}">${wrap(words)}</div>`,
      )
      .join('')
  const inBoth = (word: 'allow' | 'refuse') =>
    said
      .map(({ name, lang, words }) => `<span class="${name}" lang="${lang}">${words[word]}</span>`)
      .join('')
  const hidden = Object.entries(shown.fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`,
  )
  return `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Moonbase</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${head.theme === null ? '' : `<script src="${head.theme}"></script>`}
${head.sheet === null ? '' : `<link rel="stylesheet" href="${head.sheet}">`}
</head>
<body>
<main class="consent">
<p class="consent-brand">Moonbase</p>
<form class="card consent-form" method="post" action="/auth/native/authorize">
${hidden.join('\n')}
${each(({ title, asks, gets, warn }) =>
  [
    `<h1 class="consent-title">${escaped(title)}</h1>`,
    `<p>${escaped(asks)}</p>`,
    `<p>${escaped(gets)}</p>`,
    `<p class="notice" data-tone="warn">${escaped(warn)}</p>`,
  ].join(''),
)}
<div class="consent-choice">
<a class="btn" href="${escaped(shown.refusal)}">${inBoth('refuse')}</a>
<button class="btn" data-kind="primary" type="submit">${inBoth('allow')}</button>
</div>
</form>
</main>
</body>
</html>
`
}

/** Names and addresses are free text. */
const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
