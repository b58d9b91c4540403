import { ImageIcon } from 'lucide-react'
import type { Token, Tokens } from 'marked'
import { createContext, Fragment, type ReactNode, useContext } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { CopyButton } from '../../ui/button.tsx'
import { isClosed } from '../artifacts/kinds.ts'
import { Cited } from './citations.tsx'
import { Code } from './code.tsx'
import { toCsv } from './csv.ts'
import { Formula } from './math.tsx'
import type { MathToken } from './math-tokens.ts'
import { isBreak, plain } from './plain.ts'

/** Addresses that may become links; `javascript:` and `data:` stay text. */
const safeHref = (href: string): string | null =>
  /^(https?:\/\/|mailto:)/i.test(href) ? href : null

const HEADINGS = ['h2', 'h3', 'h4', 'h5', 'h6', 'h6'] as const

const children = (tokens: readonly Token[] | undefined): ReactNode =>
  withIndexKeys(tokens ?? []).map(({ key, item }) => <Show key={key} token={item} />)

/**
 * Renders links of the product's own texts to its own pages; null for external links. Replies have
 * no such renderer: a reply must not send a reader to `/console/…`.
 */
export const OwnLinks = createContext<(href: string, label: ReactNode) => ReactNode>(() => null)

function Link({ token }: { readonly token: Tokens.Link }) {
  const ownLink = useContext(OwnLinks)
  const href = safeHref(token.href)
  const label = children(token.tokens)
  return href === null ? (ownLink(token.href, label) ?? label) : <Away href={href}>{label}</Away>
}

interface AwayProps {
  readonly href: string
  readonly children: ReactNode
}

const Away = ({ href, children: label }: AwayProps) => (
  <a href={href} target="_blank" rel="noreferrer noopener nofollow">
    {label}
  </a>
)

/** Pictures that the reply itself contains, in formats without scripts. */
const HELD = /^data:image\/(?:png|jpeg|gif|webp);base64,/i

/** An external picture is loaded only after a click, because its host learns who reads the page. */
function Picture({ token }: { readonly token: Tokens.Image }) {
  const { t } = useI18n()
  const { href, text } = token
  if (HELD.test(href)) return <img src={href} alt={text} className="max-h-96 rounded-lg" />
  const safe = safeHref(href)
  if (safe === null) return text || href
  return (
    <span className="picture">
      <ImageIcon size={15} aria-hidden />
      <Away href={safe}>{text || href}</Away>
      <small>{t('studio.picture', { host: URL.canParse(safe) ? new URL(safe).host : safe })}</small>
    </span>
  )
}

function List({ token }: { readonly token: Tokens.List }) {
  const items = withIndexKeys(token.items).map(({ key, item }) => (
    <li key={key} className={item.task ? 'task' : undefined}>
      {children(item.tokens)}
    </li>
  ))
  // Its marks stand where its words begin.
  const dir = 'auto'
  if (!token.ordered) return <ul dir={dir}>{items}</ul>
  return (
    <ol start={Number(token.start) || 1} dir={dir}>
      {items}
    </ol>
  )
}

function Checkbox({ checked }: { readonly checked: boolean }) {
  const { t } = useI18n()
  const name = t(checked ? 'home.done' : 'home.undone')
  return <input type="checkbox" checked={checked} aria-label={name} disabled readOnly />
}

/** A focusable wide table scrolls with the arrow keys. */
const MOVABLE = { tabIndex: 0 } as const

/** A wide table scrolls sideways by itself, so that numbers do not wrap. */
function Table({ token }: { readonly token: Tokens.Table }) {
  const { t } = useI18n()
  const cells = (row: readonly Tokens.TableCell[], Cell: 'th' | 'td') =>
    withIndexKeys(row).map(({ key, item: cell }) => (
      <Cell key={key} data-align={cell.align ?? undefined}>
        {children(cell.tokens)}
      </Cell>
    ))
  return (
    <div className="table-block">
      <div className="table-acts">
        <CopyButton text={toCsv(token)} size="small" what={t('table.csv')} />
      </div>
      <div className="table-scroll" {...MOVABLE}>
        <table>
          <thead>
            <tr>{cells(token.header, 'th')}</tr>
          </thead>
          <tbody>
            {withIndexKeys(token.rows).map(({ key, item: row }) => (
              <tr key={key}>{cells(row, 'td')}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

/** One token as an element. HTML in a reply stays text, but for the end of a line. */
export function Show({ token: given }: { readonly token: Token }): ReactNode {
  const token = given as Tokens.Generic
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading': {
      const Heading = HEADINGS[(token.depth as number) - 1] ?? 'h6'
      return <Heading>{children(token.tokens)}</Heading>
    }
    case 'paragraph':
      return <p>{children(token.tokens)}</p>
    case 'blockquote':
      return <blockquote>{children(token.tokens)}</blockquote>
    case 'code':
      return (
        <Code
          text={String(token.text)}
          language={String(token.lang ?? '')}
          isClosed={isClosed(token.raw)}
        />
      )
    case 'math':
      return <Formula token={token as MathToken} />
    case 'list':
      return <List token={token as Tokens.List} />
    case 'table':
      return <Table token={token as Tokens.Table} />
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'strong':
      return <strong>{children(token.tokens)}</strong>
    case 'em':
      return <em>{children(token.tokens)}</em>
    case 'del':
      return <del>{children(token.tokens)}</del>
    case 'codespan':
      return <code>{String(token.text)}</code>
    case 'link':
      return <Link token={token as Tokens.Link} />
    case 'image':
      return <Picture token={token as Tokens.Image} />
    case 'checkbox':
      return <Checkbox checked={token.checked === true} />
    default:
      if (token.tokens) return <Fragment>{children(token.tokens)}</Fragment>
      if (token.type === 'html') return isBreak(token.raw) ? <br /> : token.raw
      return <Cited text={plain(String(token.text ?? token.raw))} />
  }
}
