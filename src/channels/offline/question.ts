import type { LlmRequest, ToolCall } from '../../upstream/ports/llm.ts'
import { zoneIn } from './zones.ts'

/** Longer texts are not searched for arithmetic. */
const TEXT_CHARS_MAX = 500
const FUNCTIONS = '(?:sqrt|abs|round|min|max|sin|cos|tan|ln|log)\\s*\\('
const EXPRESSION = new RegExp(
  `(?:${FUNCTIONS}|[\\d(+-])(?:${FUNCTIONS}|[\\d.()+\\-*/^%!,\\s])*`,
  'gi',
)
const WORKS = /[\d)%!]\s*[-+*/^%]\s*[\d(a-z.+-]|\d\s*!|[a-z]\s*\(/i
/** Dates and telephone numbers. */
const NO_EXPRESSION = /^\d{4}([-/])\d{1,2}\1\d{1,2}$|^0\d+-\d+/

/** Words that ask for a calculation although the text has other words, too. */
const CUE = /等于|得几|计算|算一下|算算|=|calculat|comput|evaluate/i
/** Asks for the result right after the expression; with a unit it asks for something else. */
const ASKED_BEHIND = /^(?:是|为)?(?:多少|几)(?![年月日号个天次元块])/
/** Words around an expression that do not change the question. */
const FILLER = new RegExp(
  '请问|请|帮我|一下|计算|算算|算|等于|多少|得几|几|是|得|呢|吗|的|结果|' +
    "what(?:'s| is)?|how much|is|calculate|compute|evaluate|the|result|of|please|equals?|" +
    '[\\s,，。.?？!！:：;；=]',
  'gi',
)
const OPERATORS: readonly (readonly [RegExp, string])[] = [
  [/(\d)\s?的\s?(\d+)\s?次方/g, '$1^$2'],
  [/(\d)\s?的\s?(\d+(?:\.\d+)?%)/g, '$1*$2'],
  [/(\d%)\s+of\s+(?=\d)/gi, '$1*'],
  [/(?:加上|加|\bplus\b)(?=\s?[\d(-])/gi, '+'],
  [/(?:减去|减|\bminus\b)(?=\s?[\d(-])/gi, '-'],
  [/(?:乘以|乘|×|\btimes\b)(?=\s?[\d(-])/gi, '*'],
  [/(?:除以|÷|\bdivided by\b)(?=\s?[\d(-])/gi, '/'],
]

const TIME = new RegExp(
  '现在(?:是)?(?:什么时[间候]|几点|几时|哪年)|几点了|几点钟了|(?:当前|现在)的?(?:时间|日期)|' +
    '今天(?:是)?(?:几号|几月|星期几|周几|什么日子|哪[年天])|今天的?日期|今年是?(?:哪|几)年|报时|' +
    "what(?:'s| is)? (?:the )?(?:current )?(?:time|date|day)(?: is it| now| today|\\?|$| in )|" +
    "current (?:time|date)|today'?s date|what time|what day (?:is|of)|time is it",
  'i',
)
/** Asks for the time where the text names a place that is known. */
const TIME_THERE =
  /\btime (?:now )?in\b|\bcurrent\b.*\btime\b|时间(?:是|现在)?(?:几点|多少)?[\s？?]*$/i

/** The arithmetic expression that a text asks for, or null; the calculator checks its syntax. */
export function findArithmetic(text: string): string | null {
  if (text.length > TEXT_CHARS_MAX) return null
  const spelled = OPERATORS.reduce(
    (changed, [word, sign]) => changed.replace(word, sign),
    text.normalize('NFKC'),
  )
  const [expression] = [...spelled.matchAll(EXPRESSION)]
    .map(([found]) => found.trim().replace(/[,.(+\-*/^\s]+$/, ''))
    .filter((found) => WORKS.test(found) && !NO_EXPRESSION.test(found))
    .sort((a, b) => b.length - a.length)
  if (expression === undefined) return null
  const behind = spelled.slice(spelled.indexOf(expression) + expression.length).trimStart()
  const alone = spelled.replace(expression, '').replace(FILLER, '') === ''
  return alone || CUE.test(spelled) || ASKED_BEHIND.test(behind) ? expression : null
}

const GREETING = /^(?:你好|您好|嗨|哈喽|hi|hello|hey)[\s,，.。!！~～👋]*$/iu
const ABILITIES =
  /你(?:能|会|可以)(?:做|干)?(?:什么|啥|哪些)|你是谁|what can you do|who are you|^help[.!?]*$/i

/** Whether a text is a greeting or asks what the assistant can do. */
export const asksAbilities = (text: string): boolean =>
  text.length <= TEXT_CHARS_MAX && (GREETING.test(text) || ABILITIES.test(text))

/** The calls that answer the text with the tools on offer. */
export function toolCallsFor(text: string, { tools }: LlmRequest): ToolCall[] {
  const expression = findArithmetic(text)
  const zone = text.length <= TEXT_CHARS_MAX ? zoneIn(text) : undefined
  const wanted: [name: string, args: Readonly<Record<string, string>>][] = []
  if (expression) wanted.push(['calculator', { expression }])
  if (TIME.test(text) || (zone !== undefined && TIME_THERE.test(text)))
    wanted.push(['current_time', zone ? { time_zone: zone } : {}])
  return wanted
    .filter(([name]) => tools.some((tool) => tool.name === name))
    .map(([name, args], i) => ({ id: `offline_${i + 1}`, name, arguments: JSON.stringify(args) }))
}
