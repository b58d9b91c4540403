import type { WebhookEvent } from './model.ts'

/** What a webhook is told, without the fields that only choose who is told. */
export type EventData = Readonly<Record<string, string | number | null | undefined>>

type Words = Readonly<Record<WebhookEvent | 'webhook.test', string>>

const ZH: Words = {
  'run.done': '运行已完成：{name}',
  'run.failed': '运行失败：{name}（{error_class}）',
  'schedule.paused': '计划任务已暂停：{name}',
  'budget.spent': '密钥 {prefix} 今日的 token 额度已用完',
  'source.ready': '文档已可用：{title}',
  'source.failed': '文档读取失败：{title}（{error_class}）',
  'source.gone': '网页已不存在：{title}',
  'device.offline': '设备已离线：{name}',
  'device.online': '设备已上线：{name}',
  'mcp.failed': 'MCP 服务器不可用：{name}',
  'mcp.sign_in_needed': 'MCP 服务器需要重新登录：{name}',
  'mcp.tools_changed': 'MCP 服务器的工具有变化：{name}（{count} 个待批准）',
  'feedback.down': '一条回答收到差评（会话 {session_id}，第 {seq} 轮）',
  'webhook.test': '这是一条测试消息',
}

const EN: Words = {
  'run.done': 'Run done: {name}',
  'run.failed': 'Run failed: {name} ({error_class})',
  'schedule.paused': 'Schedule paused: {name}',
  'budget.spent': 'The key {prefix} has used its tokens of today',
  'source.ready': 'Document ready: {title}',
  'source.failed': 'Document not read: {title} ({error_class})',
  'source.gone': 'Page gone: {title}',
  'device.offline': 'Device offline: {name}',
  'device.online': 'Device online: {name}',
  'mcp.failed': 'MCP server failed: {name}',
  'mcp.sign_in_needed': 'MCP server needs a new sign-in: {name}',
  'mcp.tools_changed': 'Tools of an MCP server changed: {name} ({count} to approve)',
  'feedback.down': 'An answer got a thumb down (session {session_id}, turn {seq})',
  'webhook.test': 'This is a test',
}

/** One sentence, or the reply alone where there is one. */
export function sentenceOf(
  event: WebhookEvent | 'webhook.test',
  data: EventData,
  language: 'zh' | 'en',
): string {
  if (typeof data.reply === 'string' && data.reply !== '') return data.reply
  const words = language === 'en' ? EN : ZH
  return words[event].replace(/\{(\w+)\}/g, (_, name: string) =>
    String(data[name] ?? data.run_id ?? '-'),
  )
}
