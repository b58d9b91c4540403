import type { Language } from './index.tsx'

/** What each built-in tool does: the console lists these (test/api/fallback.test.ts compares). */
export const TOOL_WORDS = {
  current_time: {
    zh: '告诉日期和时间，可以指定时区。',
    en: 'Tells date and time, in any time zone.',
  },
  calculator: {
    zh: '精确的十进制计算，带常用函数。',
    en: 'Exact decimal arithmetic with the usual functions.',
  },
  search_knowledge_base: {
    zh: '检索知识库里的段落，知识库打开时可用。',
    en: 'Looks up passages of your knowledge base, while it is on.',
  },
  fetch_url: {
    zh: '读取一个公开的网页、JSON 或文本文件，最大 200 KB。',
    en: 'Reads one public page, JSON or text file, up to 200 KB.',
  },
  web_search: {
    zh: '搜索网页。平台管理员接入搜索引擎后可用。',
    en: 'Searches the web. Offered once whoever runs this server has connected a search engine.',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<Language, string>>>>

/** Every tool that a model can be offered. */
export const TOOLS = Object.keys(TOOL_WORDS) as readonly (keyof typeof TOOL_WORDS)[]

/** What people call each built-in tool; a model knows it by the key. */
const TOOL_NAMES: Readonly<Record<keyof typeof TOOL_WORDS, Readonly<Record<Language, string>>>> = {
  current_time: { zh: '日期和时间', en: 'Date and time' },
  calculator: { zh: '计算器', en: 'Calculator' },
  search_knowledge_base: { zh: '检索知识库', en: 'Knowledge base' },
  fetch_url: { zh: '读取网页', en: 'Read a page' },
  web_search: { zh: '搜索网页', en: 'Web search' },
}

/** Of those that are offered by a switch of their own, beside the list. */
const SWITCHED_NAMES: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
  ask_user: { zh: '向人提问', en: 'Question to you' },
  read_file: { zh: '读取文件', en: 'Read a file' },
  remember: { zh: '记住', en: 'Remember' },
  forget: { zh: '忘记', en: 'Forget' },
  recall: { zh: '查看记忆', en: 'Recall' },
  set_reminder: { zh: '设置提醒', en: 'Set a reminder' },
  list_reminders: { zh: '查看提醒', en: 'List reminders' },
  cancel_reminder: { zh: '取消提醒', en: 'Cancel a reminder' },
}

const NAMES: typeof SWITCHED_NAMES = { ...TOOL_NAMES, ...SWITCHED_NAMES }

/** What people call a tool: by its words, as "tool (server)", else as the model knows it. */
export function toolName(name: string, language: Language): string {
  if (Object.hasOwn(NAMES, name)) return NAMES[name]?.[language] ?? name
  const [, server, tool] = /^([a-z0-9_]+?)__(.+)$/.exec(name) ?? []
  return server && tool ? `${tool} (${server})` : name
}
