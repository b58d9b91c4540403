import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowLeft, ArrowRight, Download } from 'lucide-react'
import type { Tokens } from 'marked'
import { type ReactNode, useEffect } from 'react'
import { DocsFrame } from '../features/docs/frame.tsx'
import { drawingOf, fileOf, type GuidePart, partsOf } from '../features/docs/guide-parts.ts'
import { download } from '../features/markdown/download.ts'
import { OwnLinks, Show } from '../features/markdown/tokens.tsx'
import { GUIDE_IDS, type GuideId, guidePath, isGuide } from '../guides/pages.ts'
import { readGuide } from '../guides/read.ts'
import { useI18n } from '../i18n/index.tsx'
import { withIndexKeys } from '../lib/index-keys.ts'
import { Button } from '../ui/button.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { Missing } from './missing.tsx'

/** This server in the texts of the manual; replaced by the address that the reader has opened. */
const EXAMPLE_SERVER = 'http://127.0.0.1:3900'

/** This server as other machines reach it, such as `http://SERVER:3900`. */
const OTHER_SERVER = /http:\/\/[^\s/:`"']+:3900/g

const isLoopback = () => /^(localhost|127\..*|\[::1\])$/.test(location.hostname)

/** The port that the reader has opened, as it stands in an address; empty for the usual one. */
const ownPort = () => (location.port ? `:${location.port}` : '')

/** A loopback address leads other machines nowhere, so their placeholders keep all but the port. */
const withThisServer = (text: string): string =>
  text.replace(OTHER_SERVER, (found) =>
    found === EXAMPLE_SERVER || !isLoopback()
      ? location.origin
      : found.replace(/:3900$/, ownPort()),
  )

/** Pages with fewer headings get no table of contents. */
const CONTENTS_MIN = 4

/** A page of the manual, from a file inside the executable. */
export function Guide() {
  const { page = 'start' } = useParams({ strict: false }) as { readonly page?: string }
  if (isGuide(page)) return <GuideText id={page} />
  return (
    <main id="main">
      <Missing />
    </main>
  )
}

function GuideText({ id }: { readonly id: GuideId }) {
  const { t, language } = useI18n()
  const query = useQuery({
    queryKey: ['guide', id, language],
    queryFn: async () => partsOf(withThisServer(await readGuide(id, language))),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <DocsFrame>
      <Page title={t(`guide.${id}`)} actions={id === 'devices' && <PairLink />}>
        <Loaded query={query} rows={8}>
          {(parts) => (
            <OwnLinks value={ownLink}>
              <Contents parts={parts} />
              {parts.map((part) => (
                <Part key={part.id} page={id} part={part} />
              ))}
              <Neighbours id={id} />
              <GoToPart />
            </OwnLinks>
          )}
        </Loaded>
      </Page>
    </DocsFrame>
  )
}

/** Scrolls to the part in the URL after the text has loaded. */
function GoToPart() {
  useEffect(() => {
    const part = location.hash.slice(1)
    if (part) document.getElementById(part)?.scrollIntoView()
  }, [])
  return null
}

/** Links between manual pages; links to other pages of the server cause a page load. */
function ownLink(href: string, label: ReactNode) {
  if (href.startsWith('#')) return <a href={href}>{label}</a>
  const [path = '', hash] = href.split('#')
  if (!/^\/(docs|app)\b/.test(path)) return href.startsWith('/') ? <a href={href}>{label}</a> : null
  return (
    <Link to={path} {...(hash ? { hash } : {})}>
      {label}
    </Link>
  )
}

function PairLink() {
  const { t } = useI18n()
  return (
    <Link to="/app/devices" className="target inline-flex items-center gap-1 text-accent">
      {t('makers.pair')}
      <ArrowRight size={15} aria-hidden />
    </Link>
  )
}

function Contents({ parts }: { readonly parts: readonly GuidePart[] }) {
  const { t } = useI18n()
  const titled = parts.filter(({ title }) => title !== null)
  if (titled.length < CONTENTS_MIN) return null
  return (
    <nav className="mb-7 flex flex-wrap gap-x-4 gap-y-1 text-note" aria-label={t('docs.contents')}>
      {titled.map(({ id, title }) => (
        <a key={id} href={`#${id}`} className="target text-accent">
          {title}
        </a>
      ))}
    </nav>
  )
}

/** Links to the previous and the next page. */
function Neighbours({ id }: { readonly id: GuideId }) {
  const { t } = useI18n()
  const at = GUIDE_IDS.indexOf(id)
  const [before, after] = [GUIDE_IDS[at - 1], GUIDE_IDS[at + 1]]
  return (
    <nav
      className="mt-12 flex max-w-3xl justify-between gap-4 border-t border-line pt-4"
      aria-label={t('docs.neighbours')}
    >
      {before ? (
        <Link to={guidePath(before)} className="target inline-flex items-center gap-1 text-accent">
          <ArrowLeft size={15} aria-hidden />
          {t(`guide.${before}`)}
        </Link>
      ) : (
        <span />
      )}
      {after && (
        <Link to={guidePath(after)} className="target inline-flex items-center gap-1 text-accent">
          {t(`guide.${after}`)}
          <ArrowRight size={15} aria-hidden />
        </Link>
      )}
    </nav>
  )
}

interface PartProps {
  readonly page: GuideId
  readonly part: GuidePart
}

function Part({ page, part: { id, title, tokens } }: PartProps) {
  const body = (
    <div className="prose guide max-w-3xl" data-page={page}>
      {withIndexKeys(tokens).map(({ key, item }) => {
        const drawing = drawingOf(item)
        if (drawing) return <img key={key} src={drawing.href} alt={drawing.text} className="my-4" />
        const file = fileOf(item)
        return file === null ? (
          <Show key={key} token={item} />
        ) : (
          <Program key={key} name={file} token={item as Tokens.Code} />
        )
      })}
    </div>
  )
  if (title === null) return body
  return (
    <div id={id} className="mt-9 scroll-mt-4">
      <Section title={title}>{body}</Section>
    </div>
  )
}

interface ProgramProps {
  readonly name: string
  readonly token: Tokens.Code
}

/** A whole program, with buttons to copy and to download it. */
function Program({ name, token }: ProgramProps) {
  const { t } = useI18n()
  const save = () => download(`${token.text}\n`, name)
  return (
    <div data-file={name}>
      <div className="mb-2 flex items-center justify-between gap-3">
        <code>{name}</code>
        <Button size="small" icon={<Download size={15} aria-hidden />} onClick={save}>
          {t('makers.save')}
        </Button>
      </div>
      <Show token={token} />
    </div>
  )
}
