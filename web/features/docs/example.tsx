import { useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { CopyButton } from '../../ui/button.tsx'
import { PROGRAM_NAMES, PROGRAMS, type Program, programFor, type Samples } from './examples.ts'
import type { Operation } from './openapi.ts'

/** The values in examples, in the reader's language. */
function useSamples(): Samples {
  const { t } = useI18n()
  const question = t('curl.text')
  return {
    ...{ text: question, content: question, input: question, q: t('docs.sample.q') },
    ...{
      name: t('docs.sample.name'),
      title: t('docs.sample.title'),
      prompt: t('docs.sample.prompt'),
    },
    ...{ url: 'https://example.com/', base_url: 'https://api.example.com/v1' },
    ...{ email: 'ada@example.com', model: 'moonbase', code: '<CODE>', api_key: '<KEY>' },
  }
}

/** One request to this server, as a command and as programs. */
export function Example({ operation }: { readonly operation: Operation }) {
  const { t } = useI18n()
  const samples = useSamples()
  const [program, setProgram] = useState<Program>('curl')
  const code = programFor(program, operation, location.origin, samples)
  return (
    <section>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-3">
        <h3 className="font-medium">{t('docs.example')}</h3>
        <fieldset className="segmented" aria-label={t('docs.example')}>
          {PROGRAMS.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={program === name}
              onClick={() => setProgram(name)}
            >
              {PROGRAM_NAMES[name]}
            </button>
          ))}
        </fieldset>
      </div>
      <div className="relative">
        <pre className="code pr-14">{code}</pre>
        <div className="absolute top-2 right-2">
          <CopyButton text={code} size="small" />
        </div>
      </div>
    </section>
  )
}
