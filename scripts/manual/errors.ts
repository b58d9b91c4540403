import type { Language } from '../manual.ts'

const STATUSES = [
  ['400', 'the request is wrong; sending it again does not help', '请求有误，重发没有用'],
  ['401', 'no valid key, sign-in or code', '没有有效的密钥、登录或验证码'],
  ['403', 'the key may not do this, or a quota is reached', '密钥无权这样做，或已达到配额'],
  ['404', 'not there, or not yours', '不存在，或不是你的'],
  ['405', 'the path does not know this method; see `Allow`', '路径不支持此方法，见 `Allow`'],
  ['410', 'the activation code was used before', '激活码已被使用'],
  ['413', 'the body is too large', '请求体过大'],
  ['429', 'too many requests; wait as `Retry-After` says', '请求过多，按 `Retry-After` 等待'],
  ['500', 'a fault of the server; its log says more', '服务器的故障，详见它的日志'],
  ['502', 'a model or voice service behind the server failed', '服务器背后的模型或语音服务失败'],
  ['503', 'the server is full or a part of it is off', '服务器已满，或某个部分没有开启'],
] as const

const TEXTS = {
  zh: {
    about: '错误是一句简短的中文纯文本，从不含堆栈、SQL、上游文字或密钥。程序应看状态码。',
    statuses: '状态码',
    head: '| 状态码 | 含义 |',
  },
  en: {
    about:
      'An error is one short Chinese sentence as plain text, never a stack, SQL, text of an ' +
      'upstream or a key. Programs go by the status.',
    statuses: 'Statuses',
    head: '| Status | Means |',
  },
}

/** The page of what a request may be refused with. */
export function errorsPage(language: Language): string {
  const text = TEXTS[language]
  const statuses = STATUSES.map(
    ([status, en, zh]) => `| ${status} | ${language === 'zh' ? zh : en} |`,
  )
  return [
    '<!-- Written by scripts/manual.ts. -->',
    text.about,
    `\n## ${text.statuses} {#statuses}\n`,
    text.head,
    '|---|---|',
    ...statuses,
    '',
  ].join('\n')
}
