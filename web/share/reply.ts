import type { Token, Tokens } from 'marked'
import { createReader } from '../features/markdown/blocks.ts'

/** Only such addresses become links. */
const SAFE = /^(https?:\/\/|mailto:)/i

type Parts = readonly (Node | string)[]

function element(name: string, parts: Parts): HTMLElement {
  const made = document.createElement(name)
  made.append(...parts)
  return made
}

/** marked escapes text, and a text node would show the escapes. */
const plain = (text: string): string =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name] ?? '',
  )

const all = (tokens: readonly Token[] | undefined): Node[] => (tokens ?? []).map(nodeOf)

function link({ href, tokens, text }: Tokens.Generic): Node {
  const label = tokens ? all(tokens) : [text as string]
  if (!SAFE.test(href)) return element('span', label)
  const made = element('a', label) as HTMLAnchorElement
  made.href = href
  made.target = '_blank'
  made.rel = 'noreferrer noopener nofollow'
  return made
}

function table(token: Tokens.Table): Node {
  const row = (cells: readonly Tokens.TableCell[], name: string) =>
    element(
      'tr',
      cells.map((cell) => element(name, all(cell.tokens))),
    )
  const rows = token.rows.map((cells) => row(cells, 'td'))
  const made = element('div', [element('table', [row(token.header, 'th'), ...rows])])
  made.className = 'wide'
  made.tabIndex = 0
  return made
}

const TAGS: Readonly<Record<string, string>> = {
  heading: 'h3',
  paragraph: 'p',
  blockquote: 'blockquote',
  strong: 'strong',
  em: 'em',
  del: 'del',
}

/** One token as a node; HTML in a reply stays text, and pictures are links. */
function nodeOf(given: Token): Node {
  const token = given as Tokens.Generic
  const tag = TAGS[token.type]
  if (tag !== undefined) return element(tag, all(token.tokens))
  switch (token.type) {
    case 'list':
      return element(
        token.ordered ? 'ol' : 'ul',
        (token as Tokens.List).items.map((item) => element('li', all(item.tokens))),
      )
    case 'code':
      return element('pre', [element('code', [token.text as string])])
    case 'codespan':
      return element('code', [plain(token.text as string)])
    case 'table':
      return table(given as Tokens.Table)
    case 'link':
    case 'image':
      return link(token)
    case 'br':
      return document.createElement('br')
    case 'hr':
      return document.createElement('hr')
    case 'space':
    case 'def':
      return document.createTextNode('')
    default:
      if (token.tokens) return element('span', all(token.tokens))
      return document.createTextNode(plain((token.text as string | undefined) ?? token.raw))
  }
}

/**
 * Shows a reply in Markdown in a box; nothing of it is ever parsed as HTML. Blocks that stay as
 * they are keep their nodes while the reply grows.
 */
export function createReplyView(box: Element) {
  const read = createReader()
  let shown: readonly Token[] = []
  return (text: string, willGrow: boolean): void => {
    const { settled, open, rest } = read(text, willGrow)
    const tokens = [...settled, ...open]
    const changed = tokens.findIndex((token, at) => token !== shown[at])
    const kept = changed < 0 ? tokens.length : changed
    while (box.childNodes.length > kept) box.lastChild?.remove()
    box.append(...all(tokens.slice(kept)))
    if (rest !== '') box.append(element('p', [rest]))
    shown = tokens
  }
}
