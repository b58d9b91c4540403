import { ERRORS, type ErrorStatus } from '../../src/core/error-table.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { ERROR_WORDS } from '../../web/i18n/error-words.ts'
import type { Language } from './language.ts'

const STATUSES: Readonly<Record<ErrorStatus, readonly [en: string, zh: string]>> = {
  400: ['the request is wrong; sending it again does not help', '请求有误，重发没有用'],
  401: ['no valid key, sign-in or code', '没有有效的密钥、登录或验证码'],
  403: ['the key may not do this, or a quota is reached', '密钥无权这样做，或已达到配额'],
  404: ['not there, or not yours', '不存在，或不是你的'],
  405: ['the path does not know this method; see `Allow`', '路径不支持此方法，见 `Allow`'],
  409: [
    'this browser went to another workspace; reload the page',
    '浏览器已切换到另一个工作空间，请刷新页面',
  ],
  410: [
    'done before: a code was used, a question answered',
    '已经做过：激活码已被使用，或询问已有回答',
  ],
  413: ['the body is too large', '请求体过大'],
  415: ['this kind of file is not taken', '不支持这种文件'],
  429: [
    'too many requests, or a budget is spent; wait as `Retry-After` says',
    '请求过多，或额度已用完；按 `Retry-After` 等待',
  ],
  500: ['a fault of the server; its log says more', '服务器的故障，详见它的日志'],
  502: [
    'a model or voice service behind the server failed, or the turn was stopped',
    '服务器背后的模型或语音服务失败，或这一轮被停止',
  ],
  503: ['the server is full or a part of it is off', '服务器已满，或某个部分没有开启'],
}

const TEXTS = {
  zh: {
    about:
      '错误是一句简短的中文纯文本，从不含堆栈、SQL、上游文字或密钥。它的代码在响应头 ' +
      '`X-Error-Code` 里，句中的值在 `X-Error-Params` 里（写法同 URL 的查询）。程序应看状态码和' +
      '代码；代码只会增加，不会改名。',
    statuses: '状态码',
    statusHead: '| 状态码 | 含义 |',
    codes: '代码',
    codeHead: '| 代码 | 状态码 | 句子 |',
  },
  en: {
    about:
      'An error is one short Chinese sentence as plain text, never a stack, SQL, text of an ' +
      'upstream or a key. Its code is in the header `X-Error-Code`, the values of the sentence ' +
      'in `X-Error-Params`, written as the query of a URL. Programs go by status and code; codes ' +
      'may be added and are never renamed.',
    statuses: 'Statuses',
    statusHead: '| Status | Means |',
    codes: 'Codes',
    codeHead: '| Code | Status | Means |',
  },
}

const CODES = Object.keys(ERRORS) as ErrorCode[]

/** The page of error codes. */
export function errorsPage(language: Language): string {
  const text = TEXTS[language]
  const statuses = Object.entries(STATUSES).map(
    ([status, [en, zh]]) => `| ${status} | ${language === 'zh' ? zh : en} |`,
  )
  const codes = CODES.map((code) => {
    const [status, sentence] = ERRORS[code]
    return `| \`${code}\` | ${status} | ${language === 'zh' ? sentence : ERROR_WORDS[code]} |`
  })
  return [
    '<!-- Written by scripts/manual.ts from src/core/error-table.ts. -->',
    text.about,
    `\n## ${text.statuses} {#statuses}\n`,
    text.statusHead,
    '|---|---|',
    ...statuses,
    `\n## ${text.codes} {#codes}\n`,
    text.codeHead,
    '|---|---|---|',
    ...codes,
    '',
  ].join('\n')
}
