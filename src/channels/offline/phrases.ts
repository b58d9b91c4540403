/** The sentences of the offline responder. They never claim that it understands or thinks. */
export interface Phrases {
  readonly self: string
  /** The answer to a greeting, and to the question what it can do. */
  readonly abilities: string
  /** How to connect a model; said after a question that it cannot answer. */
  readonly noModel: string
  /** The same in a line; said after an answer. */
  readonly noModelShort: string
  readonly cannotAnswer: string
  readonly cannotSee: string
  readonly found: string
  readonly foundNote: string
  readonly notCalculated: string
  /** `number` counts from 1, as the console does. */
  passage(title: string, number: number, page: number | null, quote: string): string
  calculated(result: string): string
  /** `date` is local time read as UTC. */
  time(date: Date, zone: string): string
}

const format = (locale: string, date: Date) =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' })
    .format(date)
    .replace('日星期', '日 星期')

const zh: Phrases = {
  self: '我是 Moonbase 的内置应答器，可以引用你知识库里的原文、计算算式、报时间和日期。',
  abilities: [
    '我是 Moonbase 的内置应答器。没有语言模型时，我能做三件事：',
    '- 引用你知识库里的原文：先在“知识库”页放入文档，再来提问；',
    '- 计算算式，例如“240 的 18% 是多少？”；',
    '- 报时间和日期，例如“现在几点？”。',
  ].join('\n'),
  noModel:
    '目前没有连接任何语言模型。连接方法任选一种：在这台机器上启动 Ollama、LM Studio 或 llama.cpp，' +
    '会被自动发现；管理员在控制台的“服务器 → 模型”填写地址，或设置 MB_LLM_BASE_URL' +
    '（需要时加 MB_LLM_API_KEY、MB_LLM_MODEL）；或在“自有模型”页接入你自己的模型。',
  noModelShort: '（目前没有连接任何语言模型，这是内置应答器的回答。可在控制台接入模型。）',
  cannotAnswer: '其他问题需要语言模型才能回答，我不会编造答案。',
  cannotSee: '我看不到图片，只能处理文字。',
  found: '在知识库里找到这些相关的原文：',
  foundNote: '以上是原文摘录，没有经过语言模型归纳。',
  notCalculated: '这个算式我算不出来，请检查写法，例如 (2+3)*4。',
  passage: (title, number, page, quote) =>
    `《${title}》第 ${number} 段${page === null ? '' : `（第 ${page} 页）`}：“${quote}”`,
  calculated: (result) => `计算结果：${result}。`,
  time: (date, zone) => `现在是 ${format('zh-CN', date)}（${zone}）。`,
}

const en: Phrases = {
  self:
    'I am the built-in responder of Moonbase. I can quote passages of your knowledge ' +
    'base, work out arithmetic, and tell the time and date.',
  abilities: [
    'I am the built-in responder of Moonbase. Without a language model I can do three ' + 'things:',
    '- quote your knowledge base: add a document on the page Knowledge base, then ask about it;',
    '- work out arithmetic, such as “What is 18% of 240?”;',
    '- tell the time and date, as in “What time is it?”.',
  ].join('\n'),
  noModel:
    'No language model is connected. To connect one, start Ollama, LM Studio or llama.cpp on ' +
    'this machine, and it is found by itself; or let who runs the server enter an address in the ' +
    'console under Server, Models, or in MB_LLM_BASE_URL (with MB_LLM_API_KEY and MB_LLM_MODEL ' +
    'where needed); or connect a model of your own on the page Own model.',
  noModelShort:
    '(No language model is connected; the built-in responder answered. You can connect one in ' +
    'the console.)',
  cannotAnswer: 'Other questions need a language model, and I will not make an answer up.',
  cannotSee: 'I cannot see images, only text.',
  found: 'These passages of the knowledge base are related:',
  foundNote: 'They are quoted as they stand; no language model has summed them up.',
  notCalculated: 'I cannot work this expression out; please check it, such as (2+3)*4.',
  passage: (title, number, page, quote) =>
    `"${title}", passage ${number}${page === null ? '' : ` (page ${page})`}: "${quote}"`,
  calculated: (result) => `The result: ${result}.`,
  time: (date, zone) => `It is ${format('en-US', date)} (${zone}).`,
}

/** Chinese when the text has a Han character, else English. */
export const phrasesFor = (text: string) => (/\p{Script=Han}/u.test(text) ? zh : en)
