import type { Language } from './language.ts'

/** Everything the offline responder says of its own. It never claims to understand or to think. */
export interface Phrases {
  readonly greeting: string
  readonly abilities: string
  readonly noModel: string
  readonly connect: string
  readonly cannotAnswer: string
  readonly cannotSee: string
  readonly found: string
  readonly foundNote: string
  /** `number` counts from 1, as the console does. */
  passage(title: string, number: number, quote: string): string
  calculated(result: string): string
  notCalculated(): string
  time(facts: TimeFacts): string
  toolSaid(name: string, content: string): string
}

/** What the clock tool reports. */
export interface TimeFacts {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly time: string
  /** 0 is Sunday. */
  readonly weekday: number
  readonly zone: string
}

const ENGLISH_DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const two = (value: number) => String(value).padStart(2, '0')

const zh: Phrases = {
  greeting: '你好，很高兴见到你！我是 Moonbase 的内置离线应答程序。',
  abilities: '现在我可以：引用你知识库里的原文、计算算式、报时间和日期。',
  noModel: '目前没有连接任何语言模型，所以我不能像模型那样对话。',
  connect:
    '连接方法任选一种：在这台机器上启动 Ollama、LM Studio 或 llama.cpp，会被自动发现；' +
    '或设置 MB_LLM_BASE_URL（需要时加 MB_LLM_API_KEY、MB_LLM_MODEL）后重启；' +
    '或在控制台配置你自己的模型通道。',
  cannotAnswer: '这个问题需要语言模型才能回答，我不会编造答案。',
  cannotSee: '我看不到图片，只能处理文字。',
  found: '在知识库里找到这些相关的原文：',
  foundNote: '以上是原文摘录，没有经过语言模型归纳。',
  passage: (title, number, quote) => `《${title}》第 ${number} 段：“${quote}”`,
  calculated: (result) => `计算结果：${result}。`,
  notCalculated: () => '这个算式我算不出来，请检查写法，例如 (2+3)*4。',
  time: ({ year, month, day, time, weekday, zone }) =>
    `现在是 ${year}年${month}月${day}日 星期${'日一二三四五六'[weekday]} ${time}（${zone}）。`,
  toolSaid: (name, content) => `工具 ${name} 返回：${content}`,
}

const en: Phrases = {
  greeting: 'Hello, nice to meet you! I am the built-in offline responder of Moonbase.',
  abilities:
    'Right now I can quote passages of your knowledge base, work out arithmetic, and tell the ' +
    'time and date.',
  noModel: 'No language model is connected, so I cannot hold a conversation the way a model does.',
  connect:
    'To connect one, start Ollama, LM Studio or llama.cpp on this machine and it is found by ' +
    'itself; or set MB_LLM_BASE_URL (with MB_LLM_API_KEY and MB_LLM_MODEL where needed) and ' +
    'restart; or configure your own model channel in the console.',
  cannotAnswer: 'This question needs a language model, and I will not make an answer up.',
  cannotSee: 'I cannot see images, only text.',
  found: 'These passages of the knowledge base are related:',
  foundNote: 'They are quoted as they stand; no language model has summed them up.',
  passage: (title, number, quote) => `"${title}", passage ${number}: "${quote}"`,
  calculated: (result) => `The result: ${result}.`,
  notCalculated: () => 'I cannot work this expression out; please check it, such as (2+3)*4.',
  time: ({ year, month, day, time, weekday, zone }) =>
    `It is ${time} on ${ENGLISH_DAYS[weekday]}, ${year}-${two(month)}-${two(day)} (${zone}).`,
  toolSaid: (name, content) => `The tool ${name} answered: ${content}`,
}

export const PHRASES: Readonly<Record<Language, Phrases>> = { zh, en }
