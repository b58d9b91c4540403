const NAMES = 'sqrt|cbrt|abs|floor|ceil|round|min|max|sin|cos|tan|exp|ln|log10|log2|lg|log'
const OPERAND = `(?:${NAMES})\\s*\\(|\\bpi\\b`
const CANDIDATE = new RegExp(`(?:${OPERAND}|[\\d.(+-])(?:${OPERAND}|[\\d.()+\\-*/^%!,\\s])*`, 'gi')

/** Words that ask for a calculation though the text says more than that. */
const CUE = /等于|得几|计算|算一下|算算|帮.{0,4}算|=|calculat|comput|evaluate/i
/** Asks for the result right behind the expression: `-` and `/` also stand in dates and numbers. */
const ASKED_AFTER = /^\s*(?:是|为)?\s*(?:多少|几)(?![年月日号个天次元块])/

/** What may stand around an expression without saying anything else. */
const FILLER = new RegExp(
  [
    '请问|请|帮我|帮忙|一下|计算|算算|算|等于|多少|得几|是几|几|是|为|得|呢|吗|的|结果|答案|一共',
    "what(?:'s| is)?|how much|is|calculate|compute|evaluate|the|result|of|please|equals?",
    '[\\s,，。.?？!！:：;；=]',
  ].join('|'),
  'gi',
)

export interface Arithmetic {
  readonly expression: string
  /** Nothing but the expression was asked. */
  readonly whole: boolean
}

const TEXT_CHARS_MAX = 2_000
const EXPRESSION_CHARS_MAX = 200

/**
 * The arithmetic expression that a person's text asks to work out, or null. Understands the
 * Chinese words for the four operations, Chinese numerals between them and full-width signs.
 */
export function findArithmetic(text: string): Arithmetic | null {
  if (text.length > TEXT_CHARS_MAX) return null
  const spelled = spellOut(text)
  const expression = candidates(spelled).sort((a, b) => b.length - a.length)[0]
  if (expression === undefined) return null
  const after = spelled.slice(spelled.indexOf(expression) + expression.length)
  const whole = spelled.replace(expression, '').replace(FILLER, '') === ''
  const asked = whole || CUE.test(spelled) || ASKED_AFTER.test(after)
  return asked ? { expression, whole } : null
}

function candidates(text: string): string[] {
  return [...text.matchAll(CANDIDATE)]
    .map(([match]) => match.trim().replace(/^[,!%^*/)\s]+|[,.(+\-*/^\s]+$/g, ''))
    .filter((found) => found.length <= EXPRESSION_CHARS_MAX && isExpression(found))
}

/** Holds a number and an operation on it, and its parentheses match. */
function isExpression(text: string): boolean {
  const works = /[\d)%!]\s*[-+*/^%]\s*[\d(a-z.+-]|\d\s*!|[a-z]\d*\s*\(/i.test(text)
  if (!works || !/\d|pi/i.test(text) || isDateLike(text)) return false
  let depth = 0
  for (const char of text) {
    depth += char === '(' ? 1 : char === ')' ? -1 : 0
    if (depth < 0) return false
  }
  return depth === 0
}

const isDateLike = (text: string) => /^\d{4}([-/])\d{1,2}\1\d{1,2}$|^0\d+-\d+/.test(text)

function spellOut(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[零〇一二两三四五六七八九十百千万亿点]+/g, (run, at: number, all: string) =>
      isOperand(all, at, at + run.length) ? digitsOf(run) : run,
    )
    .replace(/百分之\s*(\d+(?:\.\d+)?)/g, '$1%')
    .replace(/根号\s*(\d+(?:\.\d+)?)/g, 'sqrt($1)')
    .replace(/的平方根/g, '^0.5')
    .replace(/的?平方/g, '^2')
    .replace(/的?立方/g, '^3')
    .replace(/(\d)\s*的\s*(\d+)\s*次[方幂]/g, '$1^$2')
    .replace(/(\d)\s*的阶乘/g, '$1!')
    .replace(/(?<=[\d)%])\s*(?:加上|加|\bplus\b)\s*(?=[\d(-])/gi, '+')
    .replace(/(?<=[\d)%])\s*(?:减去|减|\bminus\b)\s*(?=[\d(-])/gi, '-')
    .replace(/(?<=[\d)%])\s*(?:乘以|乘上|乘|\btimes\b|[×·xX])\s*(?=[\d(-])/gi, '*')
    .replace(/(?<=[\d)%])\s*(?:除以|除|\bdivided by\b|÷)\s*(?=[\d(-])/gi, '/')
    .replace(/[−–]/g, '-')
    .replace(/(?<=\d)\s*的\s*(?=\d+(?:\.\d+)?%)/g, '*')
    .replace(/(?<=\d)%\s*(?:的|of)\s*(?=\d)/gi, '%*')
}

const OPERATOR_BEFORE = /(?:[加减乘除上去以+\-*/×÷^(]|百分之|根号)\s*$/
const OPERATOR_AFTER =
  /^\s*(?:[加减乘除+\-*/×÷^)]|的平方|的立方|的阶乘|平方|立方|次方|的\S{1,4}次方)/

/** Numerals are read as numbers only beside an operation: 一些 and 十分 stay words. */
function isOperand(text: string, start: number, end: number): boolean {
  return (
    OPERATOR_BEFORE.test(text.slice(Math.max(0, start - 5), start)) ||
    OPERATOR_AFTER.test(text.slice(end, end + 8))
  )
}

const DIGITS = '零一二三四五六七八九'
const UNITS: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1000, 万: 1e4, 亿: 1e8 }

/** 一百二十三 and 三点一四 in digits; a run that is no number stays as it is. */
function digitsOf(run: string): string {
  const plain = run.replaceAll('两', '二').replaceAll('〇', '零')
  const [whole = '', fraction, ...rest] = plain.split('点')
  if (rest.length > 0 || whole === '' || fraction === '') return run
  const decimals = [...(fraction ?? '')].map((char) => DIGITS.indexOf(char))
  if (decimals.includes(-1)) return run
  const tail = fraction === undefined ? '' : `.${decimals.join('')}`
  if (/^[零一二三四五六七八九]+$/.test(whole)) {
    return [...whole].map((char) => DIGITS.indexOf(char)).join('') + tail
  }
  return wholeOf(whole) + tail
}

function wholeOf(text: string): string {
  let total = 0
  let section = 0
  let digit = 0
  for (const char of text) {
    const unit = UNITS[char]
    if (unit === undefined) digit = DIGITS.indexOf(char)
    else if (unit >= 1e4) {
      if (unit === 1e4) total += (section + digit) * unit
      else total = (total + section + digit) * unit
      section = digit = 0
    } else {
      section += (digit || 1) * unit
      digit = 0
    }
  }
  return String(total + section + digit)
}
