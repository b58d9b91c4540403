import type { CheckState, StatusReport } from './status.ts'

export type Language = 'zh' | 'en'

interface Words {
  readonly title: string
  readonly overall: Readonly<Record<StatusReport['status'], string>>
  readonly state: Readonly<Record<CheckState, string>>
  readonly name: Readonly<Record<string, string>>
  readonly class: Readonly<Record<string, string>>
  readonly footer: string
}

export const WORDS: Readonly<Record<Language, Words>> = {
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
