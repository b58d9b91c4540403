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
    zh: '搜索网页。平台管理员接入搜索引擎（MB_SEARCH_URL）后可用。',
    en: 'Searches the web. Offered once whoever runs this server has connected a search engine (MB_SEARCH_URL).',
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

/** The name of a tool for people; null for one that does not come with the product. */
export const toolName = (name: string, language: Language): string | null =>
  Object.hasOwn(TOOL_NAMES, name) ? TOOL_NAMES[name as keyof typeof TOOL_NAMES][language] : null
