import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowRight, Download } from 'lucide-react'
import type { Tokens } from 'marked'
import { DocsFrame } from '../features/docs/frame.tsx'
import { fileOf, type GuidePart, partsOf } from '../features/docs/guide.ts'
import { Show } from '../features/markdown/tokens.tsx'
import { makersGuide } from '../guides/makers.ts'
import { useI18n } from '../i18n/index.tsx'
import { withIndexKeys } from '../lib/index-keys.ts'
import { Button } from '../ui/button.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'

/** How to build a device that talks to this server, with programs to start from. */
export function Makers() {
  const { t, language } = useI18n()
  const query = useQuery({
    queryKey: ['makers', language],
    queryFn: async () => partsOf(await makersGuide(language)),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const pairing = (
    <Link to="/app/devices" className="inline-flex items-center gap-1 text-accent">
      {t('makers.pair')}
      <ArrowRight size={15} aria-hidden />
    </Link>
  )
  return (
    <DocsFrame>
      <Page title={t('makers.title')} about={t('makers.about')} actions={pairing}>
        <Loaded query={query} rows={8}>
          {(parts) => (
            <>
              <Contents parts={parts} />
              {parts.map((part) => (
                <Part key={part.id} part={part} />
              ))}
            </>
          )}
        </Loaded>
      </Page>
    </DocsFrame>
  )
}

function Contents({ parts }: { readonly parts: readonly GuidePart[] }) {
  const { t } = useI18n()
  return (
    <nav
      className="mb-7 flex flex-wrap gap-x-4 gap-y-1 text-[0.93rem]"
      aria-label={t('docs.contents')}
    >
      {parts.map(
        ({ id, title }) =>
          title && (
            <a key={id} href={`#${id}`} className="text-accent">
              {title}
            </a>
          ),
      )}
    </nav>
  )
}

function Part({ part: { id, title, tokens } }: { readonly part: GuidePart }) {
  const body = (
    <div className="prose guide max-w-3xl">
      {withIndexKeys(tokens).map(({ key, item }) => {
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

/** A whole program: to copy, and to save under its name. */
function Program({ name, token }: ProgramProps) {
  const { t } = useI18n()
  const save = () => {
    const url = URL.createObjectURL(new Blob([`${token.text}\n`], { type: 'text/plain' }))
    const link = document.createElement('a')
    link.href = url
    link.download = name
    link.click()
    URL.revokeObjectURL(url)
  }
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
