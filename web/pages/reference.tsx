import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/index.ts'
import { DocsFrame } from '../features/docs/frame.tsx'
import { groupsOf } from '../features/docs/openapi.ts'
import { OperationCard } from '../features/docs/operation.tsx'
import { SayContext, useSentences } from '../features/docs/say.ts'
import { useI18n } from '../i18n/index.tsx'
import { TextField } from '../ui/form.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'

const SURFACES = ['/v1', '/console', '/auth', '/s', '/hooks'] as const

/** The API reference, rendered from the server's OpenAPI document. */
export function Reference() {
  const { t } = useI18n()
  const [surface, setSurface] = useState<(typeof SURFACES)[number]>('/v1')
  const [key, setKey] = useState('')
  const query = useQuery({ queryKey: ['openapi'], queryFn: api.openapi })
  const say = useSentences()
  return (
    <DocsFrame>
      <Page title={t('docs.title')} about={t('docs.about')}>
        <div className="flex flex-wrap items-end justify-between gap-4">
          <fieldset className="segmented" aria-label={t('docs.surface')}>
            {SURFACES.map((name) => (
              <button
                key={name}
                type="button"
                aria-pressed={surface === name}
                onClick={() => setSurface(name)}
              >
                {name}
              </button>
            ))}
          </fieldset>
          {surface === '/v1' && (
            <div className="w-full sm:w-96">
              <TextField
                label={t('docs.key')}
                hint={t('docs.key.hint')}
                type="password"
                autoComplete="off"
                placeholder="sk-mb-…"
                value={key}
                onText={setKey}
              />
            </div>
          )}
        </div>
        <SayContext value={say}>
          <Loaded query={query} rows={8}>
            {(document) =>
              groupsOf(document, surface).map(({ name, operations }) => (
                <Section key={name} title={name}>
                  <div className="card divide-y divide-line">
                    {operations.map((operation) => (
                      <OperationCard
                        key={`${operation.method} ${operation.path}`}
                        operation={operation}
                        apiKey={surface === '/v1' ? key.trim() : ''}
                      />
                    ))}
                  </div>
                </Section>
              ))
            }
          </Loaded>
        </SayContext>
      </Page>
    </DocsFrame>
  )
}
