import type { ParseFailure, ParseFailureReason } from '../../../upstream/ports/parser.ts'
import type { Source } from './model.ts'

export type SourceError = NonNullable<Source['error_class']>

/** A source cannot be turned into documents; the message is a sentence for people. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure'

  constructor(
    readonly errorClass: SourceError,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The failures whose sentence has no numbers. */
const SENTENCES = {
  no_text: '未读出文字，可能是扫描件',
  encrypted: '文件有密码保护，无法读取',
  malformed: '文件已损坏或格式有误',
  too_complex: '文件过大或过于复杂，超出读取上限',
  upstream: '知识库向量服务暂不可用，请稍后重试',
  interrupted: '服务器重启时处理中断，请重新上传',
  internal: '服务器内部错误，请稍后重试',
  address_refused: '网址指向内部地址或不允许访问的地址',
  unreachable: '网页无法连接，或没有按时返回',
  unsupported: '不支持的文件类型',
} as const

export const failure = (errorClass: keyof typeof SENTENCES, cause?: unknown) =>
  new SourceFailure(errorClass, SENTENCES[errorClass], { cause })

/** Why scanned pages are not read. The file is kept for a while: it can be read again. */
const OF_SCANS = {
  budget: '今日 token 额度已用完，已读的页会保留，之后可重新读取',
  no_vision: '所选模型不能看图',
  upstream: '模型服务暂不可用，已读的页会保留，之后可重新读取',
} as const

export class ScanFailure extends SourceFailure {
  constructor(errorClass: keyof typeof OF_SCANS, cause?: unknown) {
    super(errorClass, OF_SCANS[errorClass], { cause })
  }
}

/** The key that has sent the file is gone, so nobody would pay for its pages. */
export const keyRevoked = (cause: unknown) =>
  new SourceFailure('budget', '上传所用的密钥已撤销，请重新上传', { cause })

const OF_PARSER: Record<ParseFailureReason, keyof typeof SENTENCES> = {
  unreadable: 'malformed',
  too_long: 'too_complex',
  exhausting: 'too_complex',
  slow: 'too_complex',
  encrypted: 'encrypted',
  no_text: 'no_text',
  unsupported: 'unsupported',
}

export const failureOfParser = (error: ParseFailure) => failure(OF_PARSER[error.reason], error)

export const quotaFailure = (parts: number, room: number) =>
  new SourceFailure('quota', `需要 ${parts} 份，还可新增 ${Math.max(0, room)} 份`)

export const pageTooLarge = (bytesMax: number) =>
  new SourceFailure('too_large', `网页过大（最多 ${bytesMax / 1024 / 1024} MB）`)

/** The page answered with this status. */
export class StatusFailure extends SourceFailure {
  constructor(readonly status: number) {
    super('http_status', `网页返回了 HTTP ${status}`)
  }

  get isMissing(): boolean {
    return this.status === 404 || this.status === 410
  }
}

export const redirectFailure = (cause: unknown) =>
  new SourceFailure('http_status', '网页的重定向过多或无效', { cause })
