import { lazy } from '../../core/lazy.ts'

/**
 * Words that say that something is asked, or hold a sentence together, and nothing of its subject.
 * A passage that answers a question does not repeat them; one on another subject may. As
 * `Intl.Segmenter` cuts them.
 */
const CHINESE = `
  什么 怎么 怎样 怎么样 怎么办 如何 为什么 为何 何 何时 何地 何处 何人 何种 何年 何月 哪 哪些
  哪里 哪儿 哪个 哪位 哪种 哪天 哪年 哪家 谁 多少 多久 多长 多大 多高 多远 多 几 几个 几点 几天
  几年 吗 呢 吧 啊 么 请 请问 是否 能否 可否 有没有 能不能 可不可以 是不是 要不要 称 称为 叫
  叫做 叫作 名为 被称为 指 指的是 属于 的 了 是 在 于 和 与 及 或 由 被 把 对 从 到 为 以 有 个
  之 其 这 那 该 我 我们 你 你们 您 他 他们 她 它 会 要 能 可 可以 应该 都 也 还 就 而 中 等 所
  着 过 上 下 里`
const ENGLISH = `
  a an the of in on at to for from by with and or is are was were be been being am do does did
  done has have had what which who whom whose when where why how many much long often i you he
  she it we they me my your his her its our their this that these those there here can could
  will would shall should may might must not no if as about into than then so some any all name
  called`

const emptyWords = lazy(() => new Set(`${CHINESE} ${ENGLISH}`.trim().split(/\s+/)))
const segmenter = lazy(() => new Intl.Segmenter('zh', { granularity: 'word' }))
const LETTER = /[\p{L}\p{N}]/u

/**
 * The question without its empty words, which leave a blank behind; the question itself when
 * nothing else is in it.
 */
export function tellingPart(question: string): string {
  const empty = emptyWords()
  let rest = ''
  for (const { segment } of segmenter().segment(question)) {
    rest += empty.has(segment.toLowerCase()) ? ' ' : segment
  }
  return LETTER.test(rest) ? rest : question
}
